#!/usr/bin/env python3
"""The statistics against scipy and against the formulas of docs/statistics.md written in numpy.

The C functions are called through build/tests/stats_driver. Inputs are random with a fixed seed.
Without scipy (Debian: python3-scipy) everything is skipped.
"""

import math
import os
import pathlib
import subprocess
import sys

import livelib

try:
    import numpy as np
    from scipy import optimize, stats
except ImportError:
    # Debian's scipy belongs to Debian's Python, which need not be the first on PATH.
    if os.path.realpath(sys.executable) != os.path.realpath("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    np = None

DRIVER = pathlib.Path(os.environ.get("FZ_BUILD", pathlib.Path(livelib.FIZEAU).parent),
                      "tests", "stats_driver")
suite = livelib.Suite()


def call(*lines):
    """Run calls such as ("t_two_sided", 2.5, 3); the numbers that each prints."""
    if np is None:
        raise livelib.Skip("python3-scipy is not installed")
    text = "".join(" ".join([name, *(repr(float(v)) for v in numbers)]) + "\n"
                   for name, *numbers in lines)
    done = subprocess.run([DRIVER], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    answers = [np.array([float(v) for v in line.split()]) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines), f"{len(answers)} answers to {len(lines)} calls"
    return answers


def check_close(got, wanted, relative=1e-9, absolute=0.0):
    np.testing.assert_allclose(np.asarray(got, float), np.asarray(wanted, float),
                               rtol=relative, atol=absolute)


def generator(seed=7):
    if np is None:
        raise livelib.Skip("python3-scipy is not installed")
    return np.random.default_rng(seed)


# ---- distributions and order ----

@suite.test("normal distribution and quantile")
def _():
    generator()
    z = np.concatenate([np.linspace(0, 8, 81), np.linspace(8, 37, 30)])
    p = np.concatenate([10.0 ** -np.arange(1, 300, 7), np.linspace(0.01, 0.99, 99)])
    check_close([a[0] for a in call(*[("normal_two_sided", v) for v in z])],
                2 * stats.norm.sf(z), 1e-11)
    check_close([a[0] for a in call(*[("normal_quantile", v) for v in p])],
                stats.norm.ppf(p), 1e-11, 1e-14)


@suite.test("Student's t")
def _():
    generator()
    pairs = [(t, df) for t in (0, 1e-3, 0.3, 1, 2, 3.5, 7, 20, 300, 1e5)
             for df in (1, 1.7, 2, 3, 8, 12.5, 40, 300, 5000)]
    check_close([a[0] for a in call(*[("t_two_sided", *pair) for pair in pairs])],
                [2 * stats.t.sf(*pair) for pair in pairs], 1e-9)
    pairs = [(p, df) for p in (1e-12, 1e-5, 0.001, 0.05, 0.3, 0.99)
             for df in (1, 2, 3.3, 9, 12, 100, 5000)]
    # There and back: scipy's own isf is only good to 2e-9.
    critical = [a[0] for a in call(*[("t_critical", *pair) for pair in pairs])]
    check_close([2 * stats.t.sf(t, df) for t, (p, df) in zip(critical, pairs)],
                [p for p, df in pairs], 1e-9)


@suite.test("chi-square median")
def _():
    generator()
    df = [0.3, 0.5, 0.9, 1, 1.5, 2, 3, 4, 6, 8, 18, 60, 500]
    check_close([a[0] for a in call(*[("chi2_median", v) for v in df])], stats.chi2.median(df),
                1e-11)


@suite.test("median")
def _():
    rng = generator()
    arrays = [rng.integers(0, 20, n).astype(float) for n in range(1, 60)]
    arrays += [rng.normal(size=n) for n in (2, 3, 100, 1001)]
    check_close([a[0] for a in call(*[("median", *v) for v in arrays])],
                [np.median(v) for v in arrays])


# ---- many tests ----

def bh(p, q):
    tested = np.isfinite(p)
    order = np.sort(p[tested])
    below = np.nonzero(order <= q * np.arange(1, len(order) + 1) / len(order))[0]
    limit = order[below[-1]] if len(below) else -1
    return np.where(tested, np.nan_to_num(p, nan=2) <= limit, False)


@suite.test("Benjamini-Hochberg")
def _():
    rng = generator()
    for _ in range(20):
        p = np.concatenate([rng.random(200), rng.random(20) ** 6, np.full(9, np.nan)])
        rng.shuffle(p)
        check_close(call(("bh", 0.05, *p))[0], bh(p, 0.05))


# ---- exposure ----

@suite.test("exposure: reference ratio and several runs")
def _():
    rng = generator()
    for _ in range(20):
        a, b = rng.poisson(rng.gamma(0.5, 60, 101)), rng.poisson(rng.gamma(0.5, 60, 101))
        got = call(("reference", len(a), *a, *b), ("reference", len(a), *b, *a))
        keep = (a >= 10) & (b >= 10)
        ratio, weight = b[keep] / a[keep], np.sqrt(a[keep] * b[keep])
        order = np.argsort(ratio)
        half = np.cumsum(weight[order]) >= weight.sum() / 2
        check_close(got[0], ratio[order][np.argmax(half)])
        check_close(got[0] * got[1], 1)  # swapping the sides inverts the ratio
    counts = rng.poisson(np.outer(rng.gamma(1, 200, 80), [1, 2, 0.5, 1.1]))
    good = counts[counts.min(1) >= 10]
    ratios = np.median(np.log(good) - np.log(good).mean(1, keepdims=True), axis=0)
    check_close(call(("exposure_runs", 4, *counts.ravel()))[0],
                np.exp(ratios) / np.exp(ratios).mean())


# ---- one run a side ----

def visit_sums(lengths):
    m, k = len(lengths), sum(lengths)
    square = m / (m - 1) * sum((v - k / m) ** 2 for v in lengths) if m > 1 else 0
    return k, m, square


@suite.test("visits of a function")
def _():
    rng = generator()
    for m in (1, 2, 5, 200):
        lengths = rng.geometric(0.2, m)
        line = np.column_stack([rng.integers(1, 9, m), lengths]).ravel()
        check_close(call(("visit_sum", *line))[0], visit_sums(lengths), 1e-9, 1e-9)
    # Stretches that touch are one visit.
    check_close(call(("visit_sum", 3, 4, 0, 2, 1, 5))[0], visit_sums([6, 5]))


def visit_test(a, b, rho, run, delta, unattributed, ordered, kappa, phi0):
    """a, b: arrays (functions, 3) of samples, visits, square. Formula by formula."""
    def dispersion(s):
        many = s[:, 1] >= 5
        return s[many, 2].sum() / s[many, 0].sum() if many.any() else 0.0

    phi = dispersion(a), dispersion(b)
    lam = (a[:, 0] + b[:, 0]) / (1 + rho)
    unmatched = np.where(a[:, 1] + b[:, 1] < 10, np.abs(a[:, 1] - b[:, 1]), 0)

    def variance(s, mu, own_phi):
        if not ordered:
            return phi0 * mu
        square = np.where(s[:, 1] >= 5, s[:, 2], np.maximum(s[:, 2], own_phi * mu))
        length = s[:, 0] / np.maximum(s[:, 1], 1)
        return mu + square + length ** 2 * unmatched

    var = (variance(b, rho * lam, phi[1]) + rho ** 2 * variance(a, lam, phi[0])
           + kappa ** 2 * ((rho * lam) ** 2 + rho ** 2 * lam ** 2))
    d = b[:, 0] - rho * a[:, 0]
    tested = a[:, 0] + b[:, 0] >= 10
    scale = 1.0
    if tested.sum() >= 10:
        scale = max(1, np.median(np.abs(d / np.sqrt(var))[tested]) / stats.norm.ppf(0.75))
    error = scale * np.sqrt(var)
    threshold = delta * rho * sum(run) / (1 + rho) + unattributed
    z = np.sign(d) * np.maximum(0, np.abs(d) - threshold) / error
    p = np.where(tested, 2 * stats.norm.sf(np.abs(z)), np.nan)
    z = np.where(tested, z, np.nan)
    half = stats.norm.ppf(0.975) * error + unattributed
    return phi, scale, np.column_stack([d / rho, (d - half) / rho, (d + half) / rho, z, p])


def random_sums(rng, functions):
    sums = [visit_sums(list(rng.geometric(rng.uniform(0.02, 0.9), rng.integers(1, 60))))
            for _ in range(functions)]
    return np.array(sums, float)


@suite.test("visit-variance score test")
def _():
    rng = generator()
    for ordered in (1, 0):
        for rho, delta, functions in ((1, 0, 80), (0.1, 0.002, 80), (2.7, 0.01, 9), (1, 0, 1)):
            a, b = random_sums(rng, functions), random_sums(rng, functions)
            b[0] = 0  # only on one side
            setup = (rho, a[:, 0].sum(), b[:, 0].sum() + 1, delta, 5 * (rho > 1), ordered, 0.02,
                     1.5)
            got = call(("visit", *setup, *np.hstack([a, b]).ravel()))[0]
            phi, scale, wanted = visit_test(a, b, rho, setup[1:3], *setup[3:])
            check_close(got[:3], [*phi, scale])
            check_close(got[3:].reshape(-1, 5), wanted, 1e-8, 1e-9)


# ---- several runs a side ----

def quasi_test(counts, n_base, exposure, kappa, d0=8):
    n = counts.shape[1]
    e = exposure / exposure.mean()
    ea, eb = e[:n_base].sum(), e[n_base:].sum()
    ka, kb = counts[:, :n_base].sum(1), counts[:, n_base:].sum(1)
    lam_a, lam_b, lam0 = ka / ea, kb / eb, (ka + kb) / (ea + eb)
    mu = np.hstack([np.outer(lam_a, e[:n_base]), np.outer(lam_b, e[n_base:])])
    df = n - 2
    own = ((counts - mu) ** 2 / np.maximum(mu, 0.5)).sum(1) / df
    mean = (ka + kb) / n
    big = mean >= 10
    level, slope = 1.5, 0.0
    if big.sum() >= 6:
        order = np.lexsort((own[big], mean[big]))
        bins = np.array_split(order, max(2, min(5, big.sum() // 6)))
        y = np.array([np.median(own[big][g]) for g in bins]) / (stats.chi2.median(df) / df)
        x = np.array([np.median(mean[big][g]) for g in bins])
        (level, slope), _ = optimize.nnls(np.column_stack([np.ones_like(x), x]), y)
    least = 1 + kappa ** 2 * mean
    prior = np.maximum(np.maximum(1, level + slope * mean), least)
    phi = np.maximum((d0 * prior + df * own) / (d0 + df), least)
    error = np.sqrt(phi * lam0 * (1 / ea + 1 / eb))
    t = np.where(ka + kb >= 10, (lam_b - lam_a) / error, np.nan)
    p = 2 * stats.t.sf(np.abs(t), d0 + df)
    half = stats.t.ppf(0.975, d0 + df) * error
    d = lam_b - lam_a
    return (level, slope), np.column_stack([d, d - half, d + half, t, p, phi])


@suite.test("quasi-likelihood count test")
def _():
    rng = generator()
    for n_base, n_head, functions, spread in ((2, 2, 60, 0), (3, 3, 200, 0.05), (1, 2, 40, 0.1),
                                              (5, 4, 200, 0.3), (3, 3, 5, 0), (2, 3, 14, 0.2)):
        exposure = rng.uniform(0.5, 2, n_base + n_head)
        rate = np.outer(rng.gamma(0.5, 300, functions) + 0.5, exposure)
        counts = rng.poisson(rate * np.exp(rng.normal(0, spread, rate.shape)))
        got = call(("quasi", n_base, n_head, 0.01, *exposure, *counts.ravel()))[0]
        trend, wanted = quasi_test(counts.astype(float), n_base, exposure, 0.01)
        check_close(got[:2], trend, 1e-7, 1e-9)
        check_close(got[2:].reshape(-1, 6), wanted, 1e-6, 1e-7)


# ---- counts, power ----

@suite.test("jitter bound")
def _():
    rng = generator()
    for total in (1e6, 3e8):
        for runs in (1, 2, 3):
            base, head = 1e5 + rng.integers(0, 900, runs), 1.01e5 + rng.integers(0, 900, runs)
            change = np.median(head) - np.median(base)
            bound = np.ptp(base) + np.ptp(head) + max(500, 1e-5 * total)
            check_close(call(("jitter", runs, total, *base, *head))[0],
                        [change, bound, abs(change) > bound,
                         abs(change) > bound and abs(change) >= 1e-3 * total])


@suite.test("smallest visible change")
def _():
    generator()
    for samples, share, phi, kappa in ((1e4, 0.01, 1.5, 0.01), (1e5, 1, 5, 0.05)):
        factor = stats.norm.ppf(1 - 0.001 / 2) + 0.84
        wanted = factor * math.sqrt((1 / 3 + 1 / 5) * (phi / (samples * share) + kappa ** 2))
        runs = math.ceil(2 * (phi / (samples * share) + kappa ** 2) * (factor / 0.05) ** 2)
        check_close(call(("power", samples, share, phi, kappa, 0.001, 3, 5, 0.05))[0],
                    [wanted, runs])


# ---- change points ----

def winsorise(x):
    middle = np.median(x)
    fence = 4 * 1.4826 * np.median(np.abs(x - middle)) + 1e-12
    return np.clip(x, middle - fence, middle + fence)


def best_split(x):
    """From the matrix of all distances."""
    n, pairs = len(x), np.abs(x[:, None] - x[None, :])
    best = (0, 0)
    for m in range(3, n - 2):
        k = n - m
        q = m * k / (m + k) * (2 * pairs[:m, m:].mean() - pairs[:m, :m].mean()
                               - pairs[m:, m:].mean())
        if q > best[1]:
            best = (m, q)
    return best[0]


def autocorrelation(x):
    if len(x) < 8:
        return 0
    e = x - x.mean()
    return np.clip((e[1:] * e[:-1]).sum() / max(1e-18, (e * e).sum()) + 1 / len(x), 0, 0.9)


def welch(a, b):
    """scipy's test, with both variances widened for correlated noise."""
    if len(a) < 3 or len(b) < 3:
        return 1
    r = (len(a) * autocorrelation(a) + len(b) * autocorrelation(b)) / (len(a) + len(b))
    widen = math.sqrt((1 + r) / (1 - r))
    return stats.ttest_ind_from_stats(a.mean(), a.std(ddof=1) * widen, len(a),
                                      b.mean(), b.std(ddof=1) * widen, len(b),
                                      equal_var=False).pvalue


def change_points(x, p_max=1e-3, magnitude=0.02):
    n, proposed = len(x), {0, len(x)}

    def propose(low, high):
        if high - low < 8:
            return None
        segment = winsorise(x[low:high])
        at = best_split(segment)
        if at and welch(segment[max(0, at - 40):at], segment[at:at + 40]) < 10 * p_max:
            proposed.add(low + at)
            return low + at
        return None

    def recurse(low, high):
        at = propose(low, high)
        if at is not None:
            recurse(low, at)
            recurse(at, high)

    for low in range(0, max(1, n - 20), 20):
        propose(low, min(n, low + 40))
    recurse(0, n)
    points = sorted(proposed)
    while True:
        weighed = []
        for before, at, after in zip(points, points[1:], points[2:]):
            a, b = winsorise(x[max(before, at - 40):at]), winsorise(x[at:min(after, at + 40)])
            weighed.append((welch(a, b), -abs(b.mean() - a.mean()), at))
        bad = [w for w in weighed if w[0] >= p_max or -w[1] < magnitude]
        if not bad:
            return [(at, p) for p, _, at in weighed]
        points.remove(max(bad)[2])


@suite.test("change points")
def _():
    rng = generator()
    for n in (5, 8, 30, 100, 150):
        for _ in range(4):
            x = rng.normal(0, 0.02, n) + (rng.random(n) < 0.05) * rng.exponential(0.1, n)
            for at in rng.integers(0, n, 3):
                x[at:] += rng.normal(0, 0.08)
            got = call(("changepoint", *x))[0].reshape(-1, 2)
            wanted = change_points(x)
            assert [at for at, _ in wanted] == list(got[:, 0]), (wanted, got)
            check_close(got[:, 1], [p for _, p in wanted], 1e-6)


# ---- pairs ----

def say_pairs(looks, margin, first, second):
    return ("pairs", looks, margin, *first, *second)


@suite.test("pairs: the interval of the median ratio is the sign test's")
def _():
    random = generator(11)
    cases = [(n, looks, random.lognormal(0, 0.1, n), random.lognormal(0.02, 0.1, n))
             for n in (1, 2, 7, 8, 9, 12, 16, 25, 40, 41, 100, 333) for looks in (1, 2, 4, 7)]
    answers = call(*[say_pairs(looks, 0.05, a, b) for n, looks, a, b in cases])
    for (n, looks, first, second), (change, low, high, decided) in zip(cases, answers):
        ratio = np.sort(second / first - 1)
        check_close(change, np.median(ratio))
        ranks = np.arange(n // 2 + 1)
        k = ranks[2 * stats.binom.cdf(ranks - 1, n, 0.5) <= 0.05 / looks].max()
        if k == 0 or n < 8:
            assert math.isnan(low) and math.isnan(high) and not decided, (n, looks, low)
            continue
        check_close([low, high], [ratio[k - 1], ratio[n - k]])
        assert decided == (low > 0 or high < 0 or (low > -0.05 and high < 0.05)), (n, low, high)


def run_pairs(random, truth, noise, margin, programs=1000, most=40):
    """Programs that are timed as ci does: a look after 8, 16, 32, ... pairs until one decides.
    What each said last."""
    # Both meet a machine that becomes slower and faster.
    machine = np.cumsum(random.normal(0, 0.02, (programs, most)), axis=1)
    first, second = (np.exp(machine + noise(random, (programs, most))) for _ in range(2))
    second *= truth
    looks = [n for n in (8, 16, 32) if n < most] + [most]
    last = np.full((programs, 4), np.nan)
    going = np.arange(programs)
    for n in looks:
        last[going] = call(*[say_pairs(len(looks), margin, first[i, :n], second[i, :n])
                             for i in going])
        going = going[last[going, 3] == 0]
        if not len(going):
            break
    return last.T


def normal(scale):
    return lambda random, size: random.normal(0, scale, size)


def disturbed(random, size):
    """Every tenth run takes up to twice as long."""
    return random.normal(0, 0.02, size) + (random.random(size) < 0.1) * random.exponential(0.3, size)


@suite.test("pairs: with all looks they are wrong in at most one of twenty")
def _():
    random = generator(12)
    said = []
    for noise in (normal(0.02), normal(0.2), disturbed):
        for truth in (1.0, 1.03):
            _, low, high, _ = run_pairs(random, truth, noise, 0.02)
            wrong = np.mean((low > truth - 1) | (high < truth - 1))
            said.append(f"{wrong:.1%}")
            # Of 1,000 programs: three standard errors more.
            assert wrong <= 0.07, (truth, wrong)
    return ", ".join(said)


@suite.test("pairs: a tenth slower is found, and no change is called none")
def _():
    random = generator(13)
    _, low, high, _ = run_pairs(random, 1.1, normal(0.03), 0.02)
    found = np.mean(low > 0)
    _, low, high, _ = run_pairs(random, 1.0, normal(0.01), 0.02)
    same = np.mean((low > -0.02) & (high < 0.02))
    assert found >= 0.95 and same >= 0.9, (found, same)
    return f"{found:.1%}, {same:.1%}"


suite.main()
