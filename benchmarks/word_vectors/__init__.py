"""Word vectors by distance geometry: speed, quality, memory, proteins.

"The paper" is Khalife, Gonçalves, Liberti, *Distance geometry for word representations and
applications*.
"""
