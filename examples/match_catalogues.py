"""Match two catalogues: which of their products is which of ours?

Titles lose words on the way, so titles count twice as much as makers. Every score in the answer is
exact, and the answer says how many matches it may have missed.
"""

import numpy as np

import fewpairs as fp

# Two catalogues: yours come from files. 200 of theirs are ours with a word lost.
rng = np.random.default_rng(0)
words = ["".join(rng.choice(list("abcdefghijklmnop"), 5)) for _ in range(300)]
ours = [{"title": " ".join(rng.choice(words, 4)), "maker": words[k % 20]} for k in range(400)]
theirs = [
    {"title": " ".join(row["title"].split()[:3]), "maker": row["maker"]} for row in ours[:200]
]
theirs += [{"title": " ".join(rng.choice(words, 4)), "maker": words[k % 20]} for k in range(200)]

alike = fp.RecordSimilarity({"title": ("token_set_ratio", 2.0), "maker": "jaro_winkler"})
found = fp.find_pairs(ours, alike, others=theirs, above=0.9, one_to_one=True, random_state=0)
print(found.recall)
for i, j, score in list(zip(found.left, found.right, found.similarities, strict=True))[:3]:
    print(f"{score:.3f}  {ours[i]['title']!r} is {theirs[j]['title']!r}")

axes = fp.plots.plot_scores(found)
axes.set_ylim(top=3e6)
axes.legend(frameon=False, fontsize=8, loc="upper left")
axes.set_title("Pairs that match lie apart from all others")
axes.figure.savefig("match_catalogues.png", dpi=110, bbox_inches="tight")
