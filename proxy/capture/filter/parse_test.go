package filter_test

import (
	"errors"
	"strings"
	"testing"

	"a2atap/proxy/capture/filter"
	"a2atap/proxy/expect"
)

func TestParseErrors(t *testing.T) {
	tests := []struct {
		expr   string
		column int
		says   string // a part of the message
	}{
		{"foo taks:1", 5, `unknown key "taks"; did you mean "task"? use n id time`},
		{"stat:x", 1, `did you mean "state"`},
		{"ctx:1", 1, `did you mean "context"`},
		{"http://host/", 1, "quote the word to search for it"},
		{"12:30", 1, `unknown key "12"`},
		{"task:", 6, "task has no value; write something like task:t-1"},
		{"task: t-1", 6, "task has no value"},
		{`task:""`, 6, "task has an empty value"},
		{"task:>3", 6, "task cannot be compared by size"},
		{"(a or b", 1, "not closed"},
		{"a (b (c)", 3, "not closed"},
		{"a) b", 2, "has no opening one"},
		{"()", 2, "there is no word before"},
		{`a "b c`, 3, "quote is not closed"},
		{`a"b\`, 2, "quote is not closed"},
		{"a or", 5, "ends where a word"},
		{"or a", 1, `there is nothing before "or"`},
		{"a or or b", 6, `there is nothing before "or"`},
		{"not", 4, "ends where a word"},
		{"a and", 6, "ends where a word"},
		{"op:/a(/", 4, "invalid regular expression: missing closing )"},
		{"op:/a b/", 4, "not closed"},
		{"//", 1, "empty"},
		{`""`, 1, "empty word"},
		{"*", 1, "empty word"},
		{"dur:>2", 5, `dur wants a duration with a unit`},
		{"dur:2parsec", 5, `not "2parsec"`},
		{"dur:-2s", 5, "dur wants a duration"},
		{"dur:>", 5, "dur wants a duration"},
		{"size:>1XB", 6, "size wants a size"},
		{"size:1MB5", 6, "size wants a size"},
		{"size:99999999999GB", 6, "size wants a size"},
		{"status:ok", 8, "status wants a number such as 404 or 4xx"},
		{"n:9..3", 3, "ends before it begins"},
		{"n:..", 3, "range without a start and an end"},
		{"n:x..3", 3, `not "x"`},
		{"n:3..x", 3, `not "x"`},
		{"is:error workflow:t-1", 19, `workflow wants a whole number, not "t-1"`},
		{"workflow:9..3", 10, "workflow has a range that ends before it begins"},
		{"workflow:", 10, "workflow has no value; write something like workflow:3"},
		{"time:noon", 6, "time wants a time such as 15:04:05"},
		{"time:12:00..2026-11-21", 6, "time wants a time"},
		{"is:opne", 4, `unknown word "opne" after is:; did you mean "open"? use open cut`},
		{"is:truncated", 4, `did you mean "cut"`},
		{"header:=x", 8, "header has no name"},
		{"header:X=", 10, "header has an empty value"},
		{"json:a=x", 6, "json wants a JSON Pointer"},
		{"json:/a~b=x", 6, "json wants a JSON Pointer"},
		{"json:/a=", 9, "json has an empty value"},
		{"json:/a>x", 8, "json wants a number"},
		{"é taks:1", 3, "taks"},
		{strings.Repeat("(", 1000), 101, "nested too deep"},
		{strings.Repeat("-", 1000) + "a", 101, "nested too deep"},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			f, err := filter.Parse(tt.expr)
			var at *filter.Error
			if !errors.As(err, &at) {
				t.Fatalf("got %v and %v, want a FilterError", f, err)
			}
			if at.Column != tt.column || !strings.Contains(at.Message, tt.says) {
				t.Errorf("got  %v\nwant column %d: … %s …", err, tt.column, tt.says)
			}
			if strings.HasSuffix(at.Message, ".") || !strings.HasPrefix(err.Error(), "filter: column ") {
				t.Errorf("form of the message: %v", err)
			}
		})
	}
}

func TestString(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"  ", ""},
		{"a  and b", "a b"},
		{"a b or c", "a b or c"},
		{"a (b or c) d", "a (b or c) d"},
		{"(a b) c (d)", "a b c d"},
		{"a or (b or c)", "a or b or c"},
		{"-a", "not a"},
		{"-(a b)", "not (a b)"},
		{"--a", "not not a"},
		{"-(a)b", "not a b"},
		{"TASK:t-1", "task:t-1"},
		{`task:"a\"\\b"`, `task:"a\"\\b"`},
		{`a"*"*b`, `"a*"*b`},
		{`"and"`, `"and"`},
		{`"a:b"`, `"a:b"`},
		{`"-a"`, `"-a"`},
		{`path:"/a/"`, `path:"/a/"`},
		{"path:/a/", "path:/a/"},
		{"(path:/a/)", "path:/a/"},
		{"(/(a|b)/)", "/(a|b)/"},
		{"time:..12:00", "time:..12:00"},
		{"dur:=2s", "dur:2s"},
		{"header:*=a*", "header:*=a*"},
		{`header:X=""`, `header:X=""`},
		{`json:"/a b"=x`, `json:"/a b"=x`},
		{"json:/a/*/b>=3", "json:/a/*/b>=3"},
		{"link:a→b", "link:a->b"},
		{"is:OPEN", "is:open"},
	}
	for _, tt := range tests {
		f, err := filter.Parse(tt.expr)
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
			continue
		}
		expect.Equal(t, tt.expr+": prints as", tt.want, f.String())
	}
}
