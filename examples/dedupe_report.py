"""Find duplicates with a budget, and write a page to look at.

Typing errors in 300 names. They are found with few evaluations; to *state* that takes more, because
a match that was missed might lie anywhere. The similarity is cheap here, so that the truth can be
shown beside what is stated: in earnest each pair costs time or money, and only the statement is
there.
"""

import numpy as np

import fewpairs as fp

rng = np.random.default_rng(0)
letters = np.array(list("abcdefghijklmnopqrst"))
names = ["".join(rng.choice(letters, 10)) for _ in range(200)]
names += [name[:4] + "x" + name[5:] for name in names[:100]]
alike = fp.StringSimilarity("levenshtein")

everything = fp.find_pairs(names, alike, above=0.85, all_pairs=True)
shares = (0.03, 0.1, 0.2, 0.4)
results = [fp.find_pairs(names, alike, above=0.85, budget=s, random_state=0) for s in shares]
print(results[-1].recall)
results[-1].report("dedupe_report.html", title="Duplicate names")  # open it in any browser

truth = [len(found) / len(everything) for found in results]
axes = fp.plots.plot_recall(results, truth=truth)
axes.set_title("What is stated of the recall, and what is true")
axes.figure.savefig("dedupe_report.png", dpi=110, bbox_inches="tight")
