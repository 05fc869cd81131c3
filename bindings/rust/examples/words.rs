// SPDX-License-Identifier: MIT
//! cargo build --release --example words && fizeau bench -- target/release/examples/words

use fizeau_bench::{black_box, criterion_group, criterion_main, BatchSize, Criterion};
use std::collections::HashMap;

const TEXT: &str = "the quick brown fox jumps over the lazy dog";

fn count_words(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in text.split(' ') {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

fn words(c: &mut Criterion) {
    c.bench_function("count", |b| b.iter(|| count_words(black_box(TEXT))));
    c.bench_function("sort", |b| {
        b.iter_batched(
            || TEXT.split(' ').collect::<Vec<_>>(),
            |mut words| {
                words.sort();
                words
            },
            BatchSize::SmallInput,
        )
    });
}

criterion_group!(benches, words);
criterion_main!(benches);
