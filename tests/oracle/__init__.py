"""The truth, computed without the package.

Everything is read off the two output laws of a mechanism: which outputs the worst-case observer picks, and how probable
they are under each law. Parameters are exact rationals (every double is one), numbers are balls whose precision grows
until the answer has the digits wanted, and ties are decided exactly, so a comparison with these values is a proof.

    precision          balls of growing precision
    exponentials       the exact sign of sums of exponentials
    truth              delta, epsilon and tails of one use, Poisson-sampled or not, in either direction
    finite             laws with finitely many outputs, and their products
    continuous         Gaussian, Laplace and logistic noise, and a density of the unit interval
    truncated          noise that is cut, clamped, seen through a window, or rounded
    discrete_gaussian  Gaussian noise on the integers
    parts              laws as lists of outputs and densities, and their moments
    fold               many uses: Gaussians, binomial sums, Gaussian times finite
    laplace_fold       many uses of Laplace noise
    readings           trade-offs, accuracies, Renyi, mu and rho: closed forms, and finite laws in fractions
    attacker           the best test, tried on outputs that are drawn

Of tiny data sets with all their neighbours and all samples (numbers of 64 bits, not balls):

    enumerate_data     data sets, schemes of sampling, noise: the exact laws of answers
    adaptive           the true profile over lists of neighbours, of one use or of several chosen anew
    selection          the law of the best of K runs
    amplified          closed forms of transformed profiles
    two_points         the worst mechanism with given Renyi divergences

Trees of mechanisms and transformations, run on every tiny data set (whole numbers over 2^256):

    leaves             mechanisms of the catalogue, as text and as algorithms of which it speaks
    algorithms         what transformations do with algorithms
    trees              trees of both, drawn by what their theorems need and by what their bases lack
    profiles           the largest profile over all neighbours
"""
