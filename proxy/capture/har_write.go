package capture

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A HARWriter writes exchanges as a HAR 1.2, entry by entry: no more than one is in memory. What HAR has no room for is
// in "_a2atap" of each entry, and the events of a stream in "_eventStream", so that reading it again loses nothing but
// the content coding of bodies, which HAR takes off.
type HARWriter struct {
	w       *bufio.Writer
	entries int
}

// NewHARWriter begins a HAR on w. Version is that of the program, for log.creator.
func NewHARWriter(w io.Writer, version string) (*HARWriter, error) {
	b := bufio.NewWriter(w)
	creator, err := json.Marshal(map[string]string{"name": "a2atap", "version": version}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write har: %w", err)
	}
	fmt.Fprintf(b, `{"log":{"version":"1.2","creator":%s,"entries":[`, creator)
	return &HARWriter{w: b}, nil
}

// Write adds an exchange.
func (w *HARWriter) Write(x *Exchange) error {
	entry, err := json.Marshal(harEntryOf(x), lenient, json.Deterministic(true), json.FormatNilSliceAsNull(false))
	if err != nil {
		return fmt.Errorf("write exchange %d as har: %w", x.Seq, err)
	}
	separator := ",\n"
	if w.entries == 0 {
		separator = "\n"
	}
	w.entries++
	if _, err = w.w.WriteString(separator); err == nil {
		_, err = w.w.Write(entry)
	}
	if err != nil {
		return fmt.Errorf("write exchange %d as har: %w", x.Seq, err)
	}
	return nil
}

// Close ends the HAR. It does not close the writer below.
func (w *HARWriter) Close() error {
	if _, err := w.w.WriteString("\n]}}\n"); err != nil {
		return fmt.Errorf("end har: %w", err)
	}
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("end har: %w", err)
	}
	return nil
}

func harEntryOf(x *Exchange) *harEntry {
	h := ParseRequestHead(x.Request.Head)
	e := &harEntry{
		Cache:   jsontext.Value("{}"),
		Started: harTime(x.Started), Time: harTotal(x), Timings: harTimingsOf(x),
		Extra: &extra{
			N: x.Seq, ID: x.ID.String(), Conn: x.Conn, State: x.State.String(), EndedMs: milliseconds(x.Ended),
			Client: (*jsonPeer)(&x.Client), Agent: (*jsonPeer)(&x.Agent),
			Rewrites: jsonRewrites(x.Rewrites), Replayed: x.Replayed, Notes: x.Notes, Lost: x.Lost,
		},
	}
	if x.Conn > 0 {
		e.Connection = strconv.FormatUint(x.Conn, 10)
	}
	if host, _, ok := strings.Cut(x.Agent.Addr, ":"); ok && strings.Count(host, ".") == 3 {
		e.ServerIP = host
	}
	e.request(x, &h)
	e.response(x)
	if f := x.Fault; f != nil {
		e.Extra.Fault = (*jsonFault)(f)
		e.Error = f.Kind + ": " + f.Detail
		e.Response.Error = e.Error
	} else if x.Response == nil {
		e.Error = "no response was recorded"
		e.Response.Error = e.Error
	}
	return e
}

func (e *harEntry) request(x *Exchange, h *Head) {
	b := &x.Request.Body
	e.Request = harRequest{
		Method: h.Method, URL: requestURL(x, h), HTTPVersion: h.Version, Headers: harPairs(h.Fields), Cookies: noCookies,
		Query: harQuery(h.Target), HeadersSize: headSize(x.Request.Head), BodySize: harSize(b.Size),
	}
	data, decoded := exportBody(b, h.Fields.Codings())
	if data != nil && (len(data) > 0 || h.Fields.Has("Content-Type")) {
		text, encoding := textOf(data)
		e.Request.PostData = &harPost{MIMEType: h.Fields.Get("Content-Type"), Text: &text, Encoding: encoding}
	}
	e.Extra.Request = extraOf(x.Request.Head, e.Request.requestHead(), h, b, x.Request.Trailer, decoded)
}

func (e *harEntry) response(x *Exchange) {
	size := float64(NotKnown)
	r := x.Response
	if r == nil {
		e.Response = harResponse{
			Cookies: noCookies, HeadersSize: NotKnown, BodySize: &size, Content: harContent{Size: new(float64)},
		}
		return
	}
	h := ParseResponseHead(r.Head)
	e.Response = harResponse{
		Status: float64(h.Status), StatusText: h.Reason, HTTPVersion: h.Version, Headers: harPairs(h.Fields), Cookies: noCookies,
		RedirectURL: h.Fields.Get("Location"), HeadersSize: headSize(r.Head), BodySize: harSize(r.Body.Size),
		Content: harContent{MIMEType: h.Fields.Get("Content-Type"), Size: new(float64)},
	}
	data, decoded := exportBody(&r.Body, h.Fields.Codings())
	if r.Stream {
		data, decoded = r.StreamBytes(), r.Body.Decoded
		e.EventStream = []eventJSON{}
		for i := range r.Events {
			j := eventOf(&r.Events[i])
			if at := r.Events[i].At; at != NotKnown {
				j.Time = harTime(x.Started.Add(at))
			}
			e.EventStream = append(e.EventStream, j)
		}
	}
	if data != nil {
		text, encoding := textOf(data)
		e.Response.Content.Text, e.Response.Content.Encoding = &text, encoding
		*e.Response.Content.Size = float64(len(data))
		if saved := float64(int64(len(data)) - r.Body.Size); saved > 0 && r.Body.Size > 0 {
			e.Response.Content.Compression = &saved
		}
	} else if r.Body.Size > 0 {
		*e.Response.Content.Size = float64(r.Body.Size)
	}
	e.Extra.Response = extraOfResponse(r, e.Response.responseHead(), &h, decoded)
}

// noCookies stands where HAR wants cookies once more; they are in the headers.
var noCookies = jsontext.Value("[]")

func headSize(head []byte) float64 {
	if head == nil {
		return NotKnown
	}
	return float64(len(head))
}

func harSize(n int64) *float64 { f := float64(n); return &f }

func harPairs(fields Fields) []harPair {
	pairs := make([]harPair, len(fields))
	for i, f := range fields {
		pairs[i] = harPair(f)
	}
	return pairs
}

// harQuery returns the parameters of a target, decoded where they can be.
func harQuery(target string) []harPair {
	_, query, _ := strings.Cut(target, "?")
	pairs := []harPair{}
	for parameter := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		if parameter != "" {
			pairs = append(pairs, harPair{unescape(name), unescape(value)})
		}
	}
	return pairs
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// harTotal is how long an exchange took, as far as it was seen: HAR knows no open end.
func harTotal(x *Exchange) *float64 {
	last := max(x.Ended, x.Request.Body.At, 0)
	if r := x.Response; r != nil {
		last = max(last, r.At, r.Body.At)
	}
	return milliseconds(last)
}

// harTimingsOf cuts the time of an exchange in three; -1 is a part that is not known.
func harTimingsOf(x *Exchange) harTimings {
	unknown := float64(NotKnown)
	t := harTimings{Send: &unknown, Wait: &unknown, Receive: &unknown}
	sent := x.Request.Body.At
	between := func(a, b time.Duration) *float64 {
		if a == NotKnown || b == NotKnown {
			return &unknown
		}
		return milliseconds(max(0, b-a))
	}
	t.Send = between(0, sent)
	if r := x.Response; r != nil {
		t.Wait, t.Receive = between(sent, r.At), between(r.At, r.Body.At)
	}
	return t
}

// WriteHAR writes exchanges as a HAR.
func WriteHAR(w io.Writer, version string, exchanges func(func(*Exchange, error) bool)) error {
	har, err := NewHARWriter(w, version)
	if err != nil {
		return err
	}
	for x, err := range exchanges {
		if err != nil {
			return err
		}
		if err := har.Write(x); err != nil {
			return err
		}
	}
	return har.Close()
}
