package main

import "testing"

func TestSaidOnce(t *testing.T) {
	for text, want := range map[string]string{
		"check c.jsonl: c.jsonl: exchange 1: it is cut off here": "check c.jsonl: exchange 1: it is cut off here",
		"c.jsonl: c.jsonl: x":                      "c.jsonl: x",
		"import ac.jsonl: c.jsonl: exchange 1":     "import ac.jsonl: c.jsonl: exchange 1",
		"write o.jsonl: c.jsonl: exchange 1":       "write o.jsonl: c.jsonl: exchange 1",
		"show c.jsonl: read the capture: c.jsonl":  "show c.jsonl: read the capture: c.jsonl",
		"connect to 127.0.0.1:1: refused: refused": "connect to 127.0.0.1:1: refused",
		"": "",
	} {
		if got := saidOnce(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
