package canonical

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/neighbor"
)

// A Request is an HTTP request. Its body is without its content coding.
type Request struct {
	Method, Target string
	Fields         capture.Fields
	Body           []byte
	Secret         bool // the body has secrets: it is compared, and never shown
}

// A tree is a request as JSON values, whatever its body is.
type tree struct {
	path        string
	query, body jsondoc.Value
	call        *neighbor.Call
	dialect     *dialect
}

func read(q *Request) *tree {
	_, path, query := capture.SplitTarget(q.Target)
	t := &tree{path: path, query: queryOf(query), body: bodyOf(q)}
	n := neighbor.Request{Method: q.Method, Target: q.Target, Fields: q.Fields}
	if k := t.body.Kind(); k == jsondoc.Object || k == jsondoc.Array {
		n.Body = t.body
	}
	if reader := neighbor.Recognize(n, 0); reader != nil {
		t.call = reader.Finished()
	}
	t.dialect = of(t.call)
	if q.Secret {
		w := writer{rpc: t.dialect.rpc, dialect: t.dialect}
		w.value("", t.body)
		sum := w.sum()
		t.body = value(object{"sha256": hex.EncodeToString(sum[:])})
	}
	return t
}

// value returns a Go value as a JSON value.
func value(v any) jsondoc.Value { return jsondoc.Parse(marshal(v)).Root }

// queryOf returns the parameters of a query without credentials; Absent if nothing is left.
func queryOf(query string) jsondoc.Value {
	all := object{}
	for name, values := range parameters(query) {
		if !credential.Param(name).Hidden() {
			all[name] = values
		}
	}
	if len(all) == 0 {
		return jsondoc.Value{}
	}
	return value(all)
}

// parameters returns the parameters of a query or a form. One that cannot be decoded stays as it is written.
func parameters(text string) map[string][]string {
	all := map[string][]string{}
	for pair := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		if decoded, err := url.QueryUnescape(value); err == nil {
			value = decoded
		}
		if pair != "" {
			all[name] = append(all[name], value)
		}
	}
	return all
}

// bodyOf returns the body of a request; Absent if it has none.
func bodyOf(q *Request) jsondoc.Value {
	if len(q.Body) == 0 {
		return jsondoc.Value{}
	}
	if doc := jsondoc.Parse(q.Body); doc.Err == nil {
		return doc.Root
	}
	switch kind, params, err := mime.ParseMediaType(q.Fields.Get("Content-Type")); {
	case err != nil:
	case kind == "application/x-www-form-urlencoded":
		return value(parameters(string(q.Body)))
	case strings.HasPrefix(kind, "multipart/") && params["boundary"] != "":
		if parts := partsOf(q.Body, params["boundary"]); parts != nil {
			return value(parts)
		}
	}
	return value(contentOf(q.Body))
}

// partsOf returns the parts of a multipart body; nil if it is malformed. Source: RFC 2046 section 5.1, RFC 7578.
func partsOf(body []byte, boundary string) (parts []object) {
	in := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := in.NextRawPart()
		if err == io.EOF {
			return parts
		}
		if err != nil {
			return nil
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil
		}
		name, file, kind := p.FormName(), p.FileName(), p.Header.Get("Content-Type")
		if name != "" && name != "content" && file == "" && kind == "" { // a field of the form
			parts = append(parts, object{name: contentOf(content)})
			continue
		}
		part := object{"content": contentOf(content)}
		for member, text := range map[string]string{"name": name, "file": file, "type": kind} {
			if text != "" {
				part[member] = text
			}
		}
		parts = append(parts, part)
	}
}

// contentOf returns a text as it is, and of other bytes their digest.
func contentOf(b []byte) any {
	if utf8.Valid(b) {
		return string(b)
	}
	sum := sha256.Sum256(b)
	return object{"bytes": len(b), "sha256": hex.EncodeToString(sum[:])}
}

// credentials returns the credentials of a request, in header fields and the query. The session of an MCP client is
// none: each run has another.
func credentials(q *Request) string {
	var all []string
	for _, f := range q.Fields {
		if credential.Header(f.Name).Hidden() && !strings.EqualFold(f.Name, "Mcp-Session-Id") {
			all = append(all, strings.ToLower(f.Name)+": "+f.Value)
		}
	}
	_, _, query := capture.SplitTarget(q.Target)
	for name, values := range parameters(query) {
		if credential.Param(name).Hidden() {
			all = append(all, "?"+name+"="+strings.Join(values, ","))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
