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
    """Run calls such as ("t_two_sided", 2.5, 3); return the numbers that each prints."""
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


# ---- one run a side ----

def visit_sums(lengths):
    return sum(lengths), len(lengths)


@suite.test("visits of a function")
def _():
    rng = generator()
    for m in (1, 2, 5, 200):
        lengths = rng.geometric(0.2, m)
        line = np.column_stack([rng.integers(1, 9, m), lengths]).ravel()
        check_close(call(("visit_sum", *line))[0], visit_sums(lengths), 1e-9, 1e-9)
    # Stretches that touch are one visit.
    check_close(call(("visit_sum", 3, 4, 0, 2, 1, 5))[0], visit_sums([6, 5]))


# ---- counts, power ----

@suite.test("jitter bound")
def _():
    rng = generator()
    for total in (1e6, 3e8):
        for runs, floor in ((1, 0), (1, 1e-5), (1, 0.002), (2, 0.002), (3, 0)):
            base, head = 1e5 + rng.integers(0, 900, runs), 1.01e5 + rng.integers(0, 900, runs)
            change = np.median(head) - np.median(base)
            bound = np.ptp(base) + np.ptp(head) + max(500, 1e-5 * total)
            if runs == 1:
                bound = max(bound, max(1e-3, 3 * floor) * total)
            check_close(call(("jitter", runs, total, floor, *base, *head))[0],
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

@suite.test("whitening of noise that remembers, against its covariance matrix")
def _():
    rng = generator()
    for phi, white in ((0, 0), (0.5, 0), (0.9, 0.3), (0.98, 0.9)):
        n = 40
        lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        covariance = np.where(lags == 0, 1, (1 - white) * phi ** lags)
        factor = np.linalg.cholesky(covariance)
        x = rng.normal(0, 1, n)
        got = call(("whiten", phi, white, *x))[0]
        errors = np.linalg.solve(factor, x)  # of variance 1; ours are of that of the last error
        scale = got[:-1] / errors
        check_close(scale, np.full(n, scale[0]), 1e-9)
        check_close(got[-1], 2 * np.log(np.diag(factor) / scale[0]).sum(), 1e-9)


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
    """Programs that are timed as by ci: a test after 8, 16, 32, ... pairs until one decides.
    Returns the last result of each."""
    # The machine becomes slower and faster for both.
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


@suite.test("pairs: 10 % slower is found, and no change is reported as none")
def _():
    random = generator(13)
    _, low, high, _ = run_pairs(random, 1.1, normal(0.03), 0.02)
    found = np.mean(low > 0)
    _, low, high, _ = run_pairs(random, 1.0, normal(0.01), 0.02)
    same = np.mean((low > -0.02) & (high < 0.02))
    assert found >= 0.95 and same >= 0.9, (found, same)
    return f"{found:.1%}, {same:.1%}"


suite.main()
