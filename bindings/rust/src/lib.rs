// SPDX-License-Identifier: MIT
//! Benchmarks for `fizeau bench -- PROGRAM`, with criterion's interface.
//!
//! ```
//! use fizeau_bench::{black_box, Criterion};
//!
//! fn main() {
//!     let mut c = Criterion::default();
//!     c.bench_function("sum", |b| b.iter(|| (0..black_box(1000u64)).sum::<u64>()));
//! }
//! ```
//!
//! Outside of fizeau a benchmark's body runs once. Details are in docs/benchmarks.md.

use std::arch::asm;
use std::env;
use std::fmt::{self, Write as _};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::Path;
use std::time::{Duration, Instant};

/// Returns its argument, opaque to the optimizer: std::hint::black_box, which Rust has from 1.66 on,
/// for compilers from 1.59 on.
#[inline]
pub fn black_box<T>(mut value: T) -> T {
    // The compiler must assume that the assembly reads and writes the value.
    unsafe { asm!("/* {} */", in(reg) &mut value, options(nostack, preserves_flags)) };
    value
}

/// Minimum length of a round.
const ROUND: Duration = Duration::from_millis(1);
/// More rounds until this much time has passed,
const TOTAL: Duration = Duration::from_millis(500);
/// within these limits.
const ROUNDS: std::ops::Range<usize> = 5..200;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Off,
    Count,
    Wall,
}

/// The mode that fizeau set in the environment.
fn mode() -> Mode {
    match env::var("FIZEAU_BENCH").as_deref() {
        Ok("count") => Mode::Count,
        Ok("wall") => Mode::Wall,
        _ => Mode::Off,
    }
}

/// Runs benchmarks; criterion's `Criterion`.
#[derive(Default)]
pub struct Criterion {
    _private: (),
}

impl Criterion {
    pub fn bench_function<N, F>(&mut self, name: N, mut f: F) -> &mut Self
    where
        N: fmt::Display,
        F: FnMut(&mut Bencher),
    {
        run(&name.to_string(), &mut f);
        self
    }

    pub fn bench_with_input<N, I, F>(&mut self, name: N, input: &I, mut f: F) -> &mut Self
    where
        N: fmt::Display,
        I: ?Sized,
        F: FnMut(&mut Bencher, &I),
    {
        self.bench_function(name, |b| f(b, input))
    }

    pub fn benchmark_group<N: fmt::Display>(&mut self, name: N) -> BenchmarkGroup {
        BenchmarkGroup { name: name.to_string() }
    }
}

/// Benchmarks with a common prefix of their names.
pub struct BenchmarkGroup {
    name: String,
}

impl BenchmarkGroup {
    pub fn bench_function<N, F>(&mut self, name: N, mut f: F) -> &mut Self
    where
        N: fmt::Display,
        F: FnMut(&mut Bencher),
    {
        run(&format!("{}/{}", self.name, name), &mut f);
        self
    }

    pub fn bench_with_input<N, I, F>(&mut self, name: N, input: &I, mut f: F) -> &mut Self
    where
        N: fmt::Display,
        I: ?Sized,
        F: FnMut(&mut Bencher, &I),
    {
        self.bench_function(name, |b| f(b, input))
    }

    pub fn finish(self) {}
}

/// A function and a parameter: "parse/100".
pub struct BenchmarkId(String);

impl BenchmarkId {
    pub fn new<N: fmt::Display, P: fmt::Display>(name: N, parameter: P) -> Self {
        BenchmarkId(format!("{}/{}", name, parameter))
    }

    pub fn from_parameter<P: fmt::Display>(parameter: P) -> Self {
        BenchmarkId(parameter.to_string())
    }
}

impl fmt::Display for BenchmarkId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How criterion's `iter_batched` prepares input. Ignored: each iteration gets its own.
#[derive(Clone, Copy)]
pub enum BatchSize {
    SmallInput,
    LargeInput,
    PerIteration,
}

/// Passed to a benchmark, which calls a method with its body.
pub struct Bencher<'a> {
    name: &'a str,
    mode: Mode,
}

impl Bencher<'_> {
    pub fn iter<O, R: FnMut() -> O>(&mut self, mut body: R) {
        match self.mode {
            Mode::Off => drop(black_box(body())),
            Mode::Count => {
                drop(black_box(body()));
                self.count(&mut body);
            }
            Mode::Wall => self.time(|n| {
                let begin = Instant::now();
                for _ in 0..n {
                    black_box(body());
                }
                begin.elapsed()
            }),
        }
    }

    /// Like iter, with input from `setup`, which is not measured.
    pub fn iter_batched<I, O, S, R>(&mut self, mut setup: S, mut body: R, _: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> O,
    {
        match self.mode {
            Mode::Off => drop(black_box(body(setup()))),
            Mode::Count => {
                drop(black_box(body(setup())));
                let mut input = Some(setup());
                self.count(&mut || input.take().map(&mut body));
            }
            Mode::Wall => self.time(|n| {
                let mut spent = Duration::new(0, 0);
                for _ in 0..n {
                    let input = setup();
                    let begin = Instant::now();
                    let output = black_box(body(input));
                    spent += begin.elapsed();
                    drop(output);
                }
                spent
            }),
        }
    }

    fn count<O>(&self, body: &mut dyn FnMut() -> O) {
        let path = |word: &str| format!("/.fizeau/{}/{}", word, self.name);
        let (start, stop) = (path("start"), path("stop"));

        let _ = Path::new(&start).exists();
        let output = __bench_root_frame__(body);
        let _ = Path::new(&stop).exists();
        drop(black_box(output));
    }

    fn time<F: FnMut(u64) -> Duration>(&self, mut round: F) {
        log(self.name, "");
        let first = round(1).max(Duration::from_nanos(1));
        let iterations = (ROUND.as_nanos() / first.as_nanos()).clamp(1, 1 << 32) as u64;
        let begin = Instant::now();
        let mut times = Vec::new();
        while times.len() < ROUNDS.end && (times.len() < ROUNDS.start || begin.elapsed() < TOTAL) {
            times.push(round(iterations).as_nanos() as f64 / iterations as f64);
        }
        log(self.name, &format!(", \"rounds\": {:?}", times));
    }
}

/// fizeau shows only what is below this frame.
#[inline(never)]
#[allow(non_snake_case)]
fn __bench_root_frame__<O>(body: &mut dyn FnMut() -> O) -> O {
    let output = body();
    // Prevents a tail call, which would remove this frame.
    black_box(());
    output
}

fn run(name: &str, f: &mut dyn FnMut(&mut Bencher)) {
    let wanted = env::var("FIZEAU_BENCH_FILTER").map_or(true, |filter| name.contains(&filter));
    let mode = if wanted { mode() } else { Mode::Off };

    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| f(&mut Bencher { name, mode }))) {
        let _ = Path::new(&format!("/.fizeau/drop/{}", name)).exists();
        log(name, ", \"failed\": \"panicked\"");
        resume_unwind(panic);
    }
}

/// Write a line to fizeau's log; `rest` is JSON to follow the name.
fn log(name: &str, rest: &str) {
    let mut line = String::from("{\"name\": \"");

    for c in name.chars() {
        if c < ' ' || c == '"' || c == '\\' {
            let _ = write!(line, "\\u{:04x}", c as u32);
        } else {
            line.push(c);
        }
    }
    line += &format!("\"{}}}\n", rest);
    if let Some(path) = env::var_os("FIZEAU_BENCH_LOG") {
        if let Ok(mut file) = OpenOptions::new().append(true).open(path) {
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// Defines a function that runs benchmarks, like criterion's macro.
#[macro_export]
macro_rules! criterion_group {
    ($name:ident, $($target:path),+ $(,)?) => {
        pub fn $name() {
            let mut criterion = $crate::Criterion::default();
            $($target(&mut criterion);)+
        }
    };
}

/// Defines a main that runs groups, like criterion's macro.
#[macro_export]
macro_rules! criterion_main {
    ($($group:path),+ $(,)?) => {
        fn main() {
            $($group();)+
        }
    };
}
