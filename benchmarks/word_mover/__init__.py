"""Word Mover's Distance and Embedding: speed, classification, sentence similarity.

"The papers" are Wu, Yen, Xu, Xu, Balakrishnan, Chen, Ravikumar, Witbrock, *Word Mover's Embedding:
From Word2Vec to Document Embedding* (WME), and Ray, Monath, McCallum, Musco, *Sublinear Time
Approximation of Text Similarity Matrices*.
"""
