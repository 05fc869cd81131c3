// SPDX-License-Identifier: MIT
// Counts words in a map whose hash seed is random.
use std::collections::HashMap;

#[inline(never)]
fn count(text: &str) -> HashMap<String, usize> {
    let mut seen = HashMap::new();
    for word in text.split_whitespace() {
        *seen.entry(word.to_lowercase()).or_insert(0) += 1;
    }
    seen
}

fn main() {
    let text: String = (0..3000).map(|i| format!("Word{} and{} ", i % 311, i % 97)).collect();
    println!("{}", count(&text).len());
}
