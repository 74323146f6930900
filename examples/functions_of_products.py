"""f(UVᵀ), entry by entry, without computing it: any function, in time linear in the rows.

The error by the number of columns, for three functions of the inner products of 2,000 vectors. A
smooth function needs few columns; a step needs many, and the stated error says so.
"""

import matplotlib.pyplot as plt
import numpy as np

import fewpairs as fp

U = np.random.default_rng(0).normal(size=(2000, 6)) / 3
functions = {
    "exp(x)": np.exp,
    "tanh(3x)": lambda x: np.tanh(3 * x),
    "1 if x > 0.3": lambda x: x > 0.3,
}
columns = (5, 15, 40, 100)

figure, axes = plt.subplots(figsize=(5, 3.4))
for name, f in functions.items():
    made = [fp.elementwise(f, U, columns=count, random_state=0) for count in columns]
    errors = [K.error for K in made]
    ends = [[e.value - e.low for e in errors], [e.high - e.value for e in errors]]
    axes.errorbar(columns, [e.value for e in errors], yerr=ends, marker="o", capsize=3, label=name)
    print(name, errors[-1])
axes.set(xscale="log", yscale="log", xlabel="columns", ylabel="stated relative error")
axes.set_xticks(columns, [str(count) for count in columns])
axes.legend(frameon=False)
axes.set_title("f of all inner products of 2,000 vectors")
figure.savefig("functions_of_products.png", dpi=110, bbox_inches="tight")
