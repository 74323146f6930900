"""The whole similarity matrix from a few pairs: error, price, neighbours, stated intervals.

"The paper" is Ray, Monath, McCallum, Musco, *Sublinear Time Approximation of Text Similarity
Matrices*.
"""
