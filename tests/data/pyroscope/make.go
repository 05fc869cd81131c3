// Made app.tree and app.trie, by Pyroscope's own code (github.com/pyroscope-io/pyroscope v0.37.2).
package main

import (
	"bufio"
	"os"

	"github.com/pyroscope-io/pyroscope/pkg/storage/tree"
	"github.com/pyroscope-io/pyroscope/pkg/structs/transporttrie"
)

var stacks = []struct {
	s string
	n uint64
}{{"app.py:<module>;app.py:main;app.py:parse", 120}, {"app.py:<module>;app.py:main;app.py:parse;json:loads", 301}, {"app.py:<module>;app.py:main;app.py:render", 77}, {"app.py:<module>", 2}, {"idle thread", 9}}

func main() {
	t := tree.New()
	trie := transporttrie.New()
	for _, s := range stacks {
		t.Insert([]byte(s.s), s.n)
		trie.Insert([]byte(s.s), s.n, true)
	}
	f, _ := os.Create("app.tree")
	w := bufio.NewWriter(f)
	if err := t.SerializeTruncateNoDict(1000, w); err != nil {
		panic(err)
	}
	w.Flush()
	g, _ := os.Create("app.trie")
	w = bufio.NewWriter(g)
	if err := trie.Serialize(w); err != nil {
		panic(err)
	}
	w.Flush()
}
