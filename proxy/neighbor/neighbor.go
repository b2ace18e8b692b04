// Package neighbor recognizes the calls that agents make besides A2A: calls of models (OpenAI chat completions and
// responses, Anthropic messages, Gemini, Ollama), of MCP servers, and of other JSON-RPC services.
//
// It has one file per kind. Each says how a call is recognized (path, headers, shape of the JSON; never port or host
// alone), what the operation is called, whether the call failed, and how its stream is put together. It has no rules:
// about these calls nothing is judged.
//
// Recognition looks at a bounded number of values. What a Reader holds is bounded by its room, whatever arrives.
package neighbor

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/safetext"
)

// Kind is the kind of a call.
type Kind uint8

// The kinds of calls.
const (
	Other Kind = iota // not recognized, or JSON-RPC of another protocol
	A2A
	MCP
	Model
)

var kinds = [...]string{Other: "other", A2A: "a2a", MCP: "mcp", Model: "model"}

// String returns the kind as filters and JSON have it.
func (k Kind) String() string { return kinds[min(int(k), len(kinds)-1)] }

// Bounds of a Call.
const (
	maxName    = 200     // bytes of a name or an id
	maxFailure = 500     // bytes of an error text
	maxCalls   = 64      // tool calls, and answers to tool calls
	maxCount   = 1 << 20 // elements that are counted
	maxLook    = 64      // elements that are looked at
)

// A ToolCall is a tool that a model asked its client to call.
type ToolCall struct {
	ID, Name  string
	Arguments string // JSON, as far as there was room
}

// A Call has the facts about one call. Texts come unescaped from the wire.
type Call struct {
	Kind      Kind
	Protocol  string // "openai", "anthropic", "gemini", "ollama", "mcp" or "json-rpc"
	Operation string // "chat", "tools/call"
	Subject   string // the model, the tool, the prompt, or the URI of the resource

	Messages int           // that a model was sent
	Tools    int           // that a model was offered, or that an MCP server listed
	Asked    []ToolCall    // tools that the model asked for
	Answers  []string      // ids of the tool calls whose results the model was sent, the last of them
	Finish   string        // why the model stopped
	Input    int64         // tokens; 0 if not known
	Output   int64         // the same
	First    time.Duration // from the request's first byte to the first part of a streamed answer; 0 if not known

	Server   string   // an MCP server's name for itself
	Version  string   // of MCP
	Session  string   // of MCP, or its placeholder
	Requests []string // methods that an MCP server called on its client

	Answered bool // the client got what it asked for, or why not; it may leave then
	Failed   bool
	Failure  string // with which it failed, in its own words; may be empty
}

// Title names the call in a few words: "tools/call weather", "chat gpt-x".
func (c *Call) Title() string {
	return strings.TrimSpace(c.Operation + " " + c.Subject)
}

// Handshake reports whether the call only prepares others, as those do with which an MCP client begins and ends.
func (c *Call) Handshake() bool {
	switch c.Operation {
	case "tools/call", "resources/read", "prompts/get", "completion/complete":
		return false
	}
	return c.Kind == MCP
}

// A Request is the part of a request by which a call is recognized.
type Request struct {
	Method, Target string // the target in origin or absolute form
	Fields         capture.Fields
	Body           jsondoc.Value // absent if the request has no body, or none that is JSON
}

// A protocol is one kind of call.
type protocol struct {
	name string
	kind Kind

	// recognize fills in what the request says, and reports whether it is of this protocol. path has no query.
	recognize func(c *Call, r *Request, path string) bool
	// answer reads a whole answer. event reads an event of a stream; name may be empty.
	answer func(r *Reader, v jsondoc.Value)
	event  func(r *Reader, name string, v jsondoc.Value)
}

// protocols are tried in this order.
var protocols = []*protocol{&mcp, &anthropic, &gemini, &ollama, &openAIResponses, &openAIChat, &openAIOther, &jsonRPC}

// Recognize returns a reader for the answer to a request, or nil if the request is of no known kind. room bounds the
// text and the arguments that the reader puts together, in bytes.
func Recognize(r Request, room int) *Reader {
	switch r.Method {
	case "OPTIONS", "HEAD", "CONNECT", "TRACE":
		return nil
	}
	path := Path(r.Target)
	for _, p := range protocols {
		reader := &Reader{room: room, protocol: p}
		if p.recognize(&reader.Call, &r, path) {
			reader.Kind, reader.Protocol = p.kind, p.name
			return reader
		}
	}
	return nil
}

// Path returns the path of a target in origin or absolute form, without query and final slash.
func Path(target string) string {
	_, path, _ := capture.SplitTarget(target)
	return strings.TrimSuffix(path, "/")
}

// ByHead returns the kind of a request as far as its head shows it: Other if only the body can tell.
func ByHead(h *capture.Head) Kind {
	if r := Recognize(Request{Method: h.Method, Target: h.Target, Fields: h.Fields}, 0); r != nil {
		return r.Kind
	}
	return Other
}

// A Reader reads the answer to one call. It is for one goroutine.
type Reader struct {
	Call
	Optional bool // the server declined what it need not offer: see Declined
	protocol *protocol
	room     int // bytes left for text and arguments
	text     []byte
	parts    []part
	pattern  pattern
}

// A part is a tool call that is put together from pieces.
type part struct {
	key  string // by which pieces name it
	args []byte
}

// Status reads the head of the answer.
func (r *Reader) Status(h *capture.Head) {
	if id := h.Fields.Get("Mcp-Session-Id"); id != "" && r.Kind == MCP {
		r.Session = clip(id)
	}
	if r.Optional = r.Declined(h.Status); h.Status < 400 || r.Optional {
		return
	}
	r.Failed = true
	if after := h.Fields.Get("Retry-After"); after != "" {
		r.Failure = "retry after " + clip(after)
		if strings.Trim(after, "0123456789") == "" {
			r.Failure += " s"
		}
	}
}

// Began records when the first piece of a body came, since the request's first byte, if the body is a stream of lines.
func (r *Reader) Began(h *capture.Head, at time.Duration) {
	if r.First == 0 && at > 0 && strings.HasSuffix(h.Fields.MediaType(), "json") && h.Fields.MediaType() != "application/json" {
		r.First = at
	}
}

// Answer reads a whole answer: one JSON value, or several as a stream of lines.
func (r *Reader) Answer(status int, body []byte, doc *jsondoc.Doc) {
	r.Answered = true
	switch body = bytes.TrimSpace(body); {
	case len(body) == 0:
		return
	case doc == nil || doc.Err != nil:
		n := 0
		for one := range jsondoc.Sequence(body) {
			r.one(status, one.Root)
			n++
		}
		if n == 0 && status >= 400 && !r.Declined(status) {
			r.fail(string(body[:min(len(body), maxFailure)]))
		}
	default:
		r.one(status, doc.Root)
	}
}

func (r *Reader) one(status int, v jsondoc.Value) {
	if text, failed := errorText(v); failed && r.Kind == Model || status >= 400 {
		if !r.Declined(status) {
			r.fail(text)
		}
		return
	}
	if v.Kind() == jsondoc.Array {
		for i, e := range v.Elems() {
			if i == maxCount {
				break
			}
			r.one(status, e)
		}
		return
	}
	r.protocol.answer(r, v)
}

// Event reads an event of a stream, and when it arrived after the request's first byte. parsed is what was parsed of it
// already; nil is nothing.
func (r *Reader) Event(e *capture.Event, parsed *capture.Parsed, at time.Duration) {
	if r.pattern.fits(e.Raw) {
		r.take(&r.text, r.pattern.text(e.Raw))
		return
	}
	r.pattern.begin()
	var f *capture.EventFields
	var doc *jsondoc.Doc
	if parsed != nil {
		f, doc = parsed.Fields, parsed.Doc
	}
	if f == nil {
		f = new(e.Fields())
	}
	if len(f.Data) == 0 {
		return
	}
	if r.First == 0 && at > 0 {
		r.First = at
	}
	if doc == nil {
		doc = new(jsondoc.Parse(f.Data))
	}
	if doc.Err != nil { // [DONE], the endpoint of older MCP servers
		return
	}
	if text, failed := errorText(doc.Root); failed && r.Kind == Model {
		r.fail(text)
		return
	}
	r.protocol.event(r, string(f.Type[:min(len(f.Type), maxName)]), doc.Root)
	if e.K > 1 { // the first may begin with a byte order mark
		r.pattern.end(e.Raw, f.Data)
	}
}

// fail records an error text. The first one stays; a Retry-After follows it.
func (r *Reader) fail(text string) {
	text = strings.Join(strings.Fields(safetext.Cut(text, maxFailure)), " ")
	switch again := strings.HasPrefix(r.Failure, "retry after "); {
	case again && text != "":
		r.Failure = text + ", " + r.Failure
	case r.Failure == "":
		r.Failure = text
	}
	r.Failed = true
}

// Text returns the text that the answer has brought, as far as there was room.
func (r *Reader) Text() []byte { return r.text }

// Finished returns the call with everything that was put together. It may be called repeatedly.
func (r *Reader) Finished() *Call {
	for i := range r.parts {
		if len(r.parts[i].args) > 0 {
			r.Asked[i].Arguments = string(r.parts[i].args)
		}
	}
	return &r.Call
}

// Brief returns a copy of the call as it is now, without the arguments of its tool calls. It does not keep the Reader.
func (r *Reader) Brief() *Call {
	c := r.Call
	c.Asked = slices.Clone(c.Asked)
	for i := range c.Asked {
		c.Asked[i].Arguments = ""
	}
	return &c
}

// say adds text of the answer.
func (r *Reader) say(v jsondoc.Value) {
	if v.Kind() == jsondoc.String {
		r.pattern.said(v)
	}
	if text, ok := v.Literal(); ok {
		r.take(&r.text, text)
	} else if v.Kind() == jsondoc.String && r.room > 0 {
		r.take(&r.text, []byte(v.Text()))
	}
}

func (r *Reader) take(to *[]byte, more []byte) {
	more = more[:min(len(more), r.room)]
	r.room -= len(more)
	*to = append(*to, more...)
}

// tool returns the tool call with a key, and adds it if it is new; nil if there are too many.
func (r *Reader) tool(key string) (*ToolCall, *part) {
	i := slices.IndexFunc(r.parts, func(p part) bool { return p.key == key })
	if i < 0 {
		if len(r.parts) == maxCalls {
			return nil, nil
		}
		i = len(r.parts)
		r.parts, r.Asked = append(r.parts, part{key: key}), append(r.Asked, ToolCall{})
	}
	return &r.Asked[i], &r.parts[i]
}

// call adds what a piece says of a tool call. arguments is JSON in a string, or a value.
func (r *Reader) call(key string, id, name, arguments jsondoc.Value) {
	r.pattern.vary()
	c, p := r.tool(key)
	if c == nil {
		return
	}
	c.ID, c.Name = cmp.Or(c.ID, clipped(id)), cmp.Or(c.Name, clipped(name))
	if arguments.Kind() == jsondoc.String {
		r.take(&p.args, []byte(arguments.Text()))
	} else if arguments.Exists() {
		r.take(&p.args, arguments.Raw())
	}
}

// restart forgets what was put together: the whole follows.
func (r *Reader) restart() {
	r.room += len(r.text)
	for i := range r.parts {
		r.room += len(r.parts[i].args)
	}
	r.text, r.parts, r.Asked = nil, nil, nil
}

// key names a tool call by its place in a list.
func key(i int) string { return strconv.Itoa(i) }

// place names a tool call by an index that a piece gives.
func place(v jsondoc.Value) string {
	n, _ := v.Int()
	return strconv.FormatInt(n, 10)
}

// answered adds the id of a tool call whose result a request brings. Of too many, the last stay: each request repeats
// those before it.
func (c *Call) answered(id jsondoc.Value) {
	text := clipped(id)
	if text == "" {
		return
	}
	if len(c.Answers) == maxCalls {
		c.Answers = c.Answers[1:]
	}
	c.Answers = append(c.Answers, text)
}

// tokens sets the numbers of tokens that are given.
func (c *Call) tokens(input, output jsondoc.Value) {
	if n, ok := input.Int(); ok && n > 0 {
		c.Input = n
	}
	if n, ok := output.Int(); ok && n > 0 {
		c.Output = n
	}
}

// finish records why the model stopped. A refusal is a failure.
func (r *Reader) finish(v jsondoc.Value) {
	reason := clipped(v)
	if reason == "" {
		return
	}
	r.Finish, r.Answered = reason, true
	switch reason {
	case "content_filter", "refusal", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION":
		r.fail("refused: " + reason)
	}
}

// errorText returns the text of an error in the shapes of all vendors, and whether there is one.
func errorText(v jsondoc.Value) (string, bool) {
	if v.Kind() == jsondoc.Array {
		v = v.Elem(0)
	}
	e := v.Get("error")
	switch {
	case e.Kind() == jsondoc.String: // Ollama
		return e.Text(), e.Text() != ""
	case e.Kind() == jsondoc.Object:
		code := e.Get("code").Text()
		text := cmp.Or(e.Get("message").Text(), code, e.Get("type").Text(), e.Get("status").Text())
		if code != "" && code != text {
			text = code + ": " + text
		}
		return text, true
	case v.Get("object").Is("error"), v.Get("type").Is("error"):
		return v.Get("message").Text(), true
	}
	return cmp.Or(v.Get("message").Text(), v.Get("detail").Text()), false
}

// clipped returns the text of a string, cut to the length of a name.
func clipped(v jsondoc.Value) string { return clip(v.Text()) }

func clip(s string) string { return strings.Clone(safetext.Cut(s, maxName)) }

// hasSuffix reports whether a path ends with one of some suffixes, as whole segments.
func hasSuffix(path string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) })
}
