package mutation_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"

	"a2atap/proxy/capture"
)

var (
	contentType = regexp.MustCompile(`(?i)(Content-Type: [^;\r\n]*)\r\n`)
	hostField   = regexp.MustCompile(`Host: [^\r]*`)
	taskPath    = regexp.MustCompile(`^\S+ \S*/tasks/[a-z]`)
	timestamp   = regexp.MustCompile(`("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z"`)
	fieldName   = regexp.MustCompile(`(?m)^[A-Za-z0-9-]+:`)
	ours        = regexp.MustCompile(`"_(?:a2atap|eventStream)":`)
)

// json returns a variation of all JSON there is, in bodies and events.
func json(change func(*value)) func(*varied) {
	return rewriteText(func(x *capture.Exchange, text string) string {
		v, ok := parseValue(text)
		if !ok {
			return text
		}
		// What is equal stays equal: two fetches of one card are varied alike.
		h := fnv.New64a()
		h.Write([]byte(v.text(""))) //nolint:errcheck // a hash takes everything
		v.random = rand.New(rand.NewPCG(h.Sum64(), 1))
		v.card = bytes.Contains(x.Request.Head, []byte("ard"))
		v.open(v)
		change(v)
		return v.text("")
	})
}

func fractions(digits string) func(*varied) {
	return rewriteText(func(_ *capture.Exchange, text string) string {
		return timestamp.ReplaceAllString(text, "${1}"+digits+`Z"`)
	})
}

// rewriteText returns a variation of bodies and of the data of events.
func rewriteText(change func(x *capture.Exchange, text string) string) func(*varied) {
	return func(c *varied) {
		for _, x := range c.exchanges {
			setBody(&x.Request.Body, &x.Request.Head, func(s string) string { return change(x, s) })
			if x.Response == nil {
				continue
			}
			setBody(&x.Response.Body, &x.Response.Head, func(s string) string { return change(x, s) })
			for i := range x.Response.Events {
				e := &x.Response.Events[i]
				fields := e.Fields()
				if e.K == 0 || e.Dropped > 0 || e.Unterminated || len(fields.Data) == 0 || len(fields.Type) > 0 {
					continue
				}
				if data := change(x, string(fields.Data)); data != string(fields.Data) &&
					!strings.Contains(data, "\n") {
					e.Raw = []byte("data: " + data + "\n\n")
				}
			}
		}
	}
}

// streams returns a variation of event streams that arrived whole.
func streams(change func(string) string) func(*varied) {
	return func(c *varied) {
		for _, x := range c.exchanges {
			if x.Response == nil || !x.Response.Stream || len(x.Response.Events) == 0 {
				continue
			}
			var raw []byte
			whole, events := true, 0
			for _, e := range x.Response.Events {
				raw = append(raw, e.Raw...)
				whole = whole && e.Dropped == 0 && !e.Unterminated && (e.K == 0 || e.K == events+1)
				events = max(events, e.K)
			}
			if !whole || bytes.HasPrefix(raw, []byte("\ufeff")) || bytes.ContainsAny(raw, "\r") {
				continue
			}
			at := x.Response.Events[len(x.Response.Events)-1].At
			var s capture.Splitter
			blocks := s.Write([]byte(change(string(raw))))
			blocks = append(blocks, s.Flush()...)
			for i := range blocks {
				blocks[i].At = at
			}
			x.Response.Events = blocks
		}
	}
}

func setBody(b *capture.Body, head *[]byte, change func(string) string) {
	if !b.Kept() || !b.Complete || len(b.Data) == 0 || bytes.Contains(bytes.ToLower(*head),
		[]byte("content-encoding")) {
		return
	}
	old := len(b.Data)
	b.Data = []byte(change(string(b.Data)))
	if b.Size != capture.NotKnown {
		b.Size = int64(len(b.Data))
	}
	*head = bytes.ReplaceAll(*head, fmt.Appendf(nil, "Content-Length: %d\r", old),
		fmt.Appendf(nil, "Content-Length: %d\r", len(b.Data)))
}

func heads(change func(string) string) func(*varied) {
	return func(c *varied) { requestHeads(change)(c); responseHeads(change)(c) }
}

func requestHeads(change func(string) string) func(*varied) {
	return func(c *varied) {
		for _, x := range c.exchanges {
			if len(x.Request.Head) > 0 {
				x.Request.Head = []byte(change(string(x.Request.Head)))
			}
		}
	}
}

func responseHeads(change func(string) string) func(*varied) {
	return func(c *varied) {
		for _, x := range c.exchanges {
			if x.Response != nil && len(x.Response.Head) > 0 {
				x.Response.Head = []byte(change(string(x.Response.Head)))
			}
		}
	}
}

// eachField changes the names of a head's fields.
func eachField(head string, change func(string) string) string {
	line, rest, _ := strings.Cut(head, "\r\n")
	return line + "\r\n" + fieldName.ReplaceAllStringFunc(rest, change)
}

func (c *varied) compress() {
	for _, x := range c.exchanges {
		r := x.Response
		if r == nil || r.Stream || !r.Body.Complete || !r.Body.Kept() || len(r.Body.Data) == 0 ||
			capture.ParseResponseHead(r.Head).Fields.Has("Content-Encoding") {
			continue
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(r.Body.Data) //nolint:errcheck // a buffer takes everything
		w.Close()            //nolint:errcheck // a buffer takes everything
		r.Head = []byte(strings.TrimSuffix(string(r.Head), "\r\n") + "Content-Encoding: gzip\r\n\r\n")
		setSize := r.Body.Size != capture.NotKnown
		r.Body.Data = b.Bytes()
		if setSize {
			r.Body.Size = int64(b.Len())
		}
	}
}
