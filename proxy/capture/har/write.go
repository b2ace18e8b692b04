package har

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

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/internal/exchangejson"
	"a2atap/proxy/safetext"
)

// A Writer writes exchanges as a HAR 1.2, entry by entry: no more than one is in memory. What HAR has no room for is
// in "_a2atap" of each entry, and the events of a stream in "_eventStream", so that reading it again loses nothing but
// the content coding of bodies, which HAR takes off.
type Writer struct {
	w       *bufio.Writer
	entries int
	gaps    capture.Gaps
}

// NewWriter begins a HAR on w. version is the program's version, for log.creator.
func NewWriter(w io.Writer, version string) (*Writer, error) {
	b := bufio.NewWriter(w)
	creator, err := json.Marshal(map[string]string{"name": "a2atap", "version": version}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write har: %w", err)
	}
	fmt.Fprintf(b, `{"log":{"version":"1.2","creator":%s,"entries":[`, creator)
	return &Writer{w: b}, nil
}

// Write adds an exchange.
func (w *Writer) Write(x *capture.Exchange) error {
	entry, err := json.Marshal(entryOf(x), exchangejson.Lenient, json.Deterministic(true),
		json.FormatNilSliceAsNull(false))
	if err != nil {
		return fmt.Errorf("write exchange %d as har: %w", x.Seq, err)
	}
	separator := ",\n"
	if w.entries == 0 {
		separator = "\n"
	}
	w.entries++
	if _, err = w.w.WriteString(separator); err == nil {
		_, err = w.w.Write(safetext.JSON(entry))
	}
	if err != nil {
		return fmt.Errorf("write exchange %d as har: %w", x.Seq, err)
	}
	return nil
}

// Gaps has Close write what is missing from the capture, in "_a2atap" of the log.
func (w *Writer) Gaps(g capture.Gaps) error {
	w.gaps = g
	return nil
}

// Close ends the HAR. It does not close the writer below.
func (w *Writer) Close() error {
	end := "\n]"
	if w.gaps != (capture.Gaps{}) {
		gaps := exchangejson.GapsOf(&w.gaps)
		text, err := json.Marshal(extension{&gaps}, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("end har: %w", err)
		}
		end += `,"_a2atap":` + string(text)
	}
	if _, err := w.w.WriteString(end + "}}\n"); err != nil {
		return fmt.Errorf("end har: %w", err)
	}
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("end har: %w", err)
	}
	return nil
}

func entryOf(x *capture.Exchange) *entry {
	h := capture.ParseRequestHead(x.Request.Head)
	e := &entry{
		Cache:   jsontext.Value("{}"),
		Started: exchangejson.Time(x.Started), Time: totalOf(x), Timings: timingsOf(x),
		Extra: &exchangejson.Extra{
			N: x.Seq, ID: x.ID.String(), Conn: x.Conn, Stream: x.Stream, GRPC: exchangejson.StatusOf(x), State: x.State.String(),
			EndedMs: exchangejson.Milliseconds(x.Ended),
			Client:  &x.Client, Agent: &x.Agent, Rewrites: x.Rewrites, Replayed: x.Replayed, Notes: x.Notes, Lost: x.Lost,
			Ends: exchangejson.SideEndsOf(x),
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
		e.Extra.Fault = f
		e.Error = f.Kind + ": " + f.Detail
		e.Response.Error = e.Error
	} else if x.Response == nil {
		e.Error = "no response was recorded"
		e.Response.Error = e.Error
	}
	return e
}

func (e *entry) request(x *capture.Exchange, h *capture.Head) {
	b := &x.Request.Body
	e.Request = request{
		Method: h.Method, URL: requestURL(x, h), HTTPVersion: h.Version, Headers: pairsOf(h.Fields), Cookies: noCookies,
		Query: queryOf(h.Target), HeadersSize: headSize(x.Request.Head), BodySize: sizeOf(b.Size),
	}
	data, decoded := exchangejson.ExportBody(b, h.Fields.Codings())
	if data != nil && (len(data) > 0 || h.Fields.Has("Content-Type")) {
		text, encoding := exchangejson.Text(data)
		e.Request.PostData = &postData{MIMEType: h.Fields.Get("Content-Type"), Text: &text, Encoding: encoding}
	}
	e.Extra.Request = exchangejson.ExtraOfRequest(&x.Request, e.Request.requestHead(), h, decoded)
}

func (e *entry) response(x *capture.Exchange) {
	size := float64(capture.NotKnown)
	r := x.Response
	if r == nil {
		e.Response = response{
			Cookies: noCookies, HeadersSize: capture.NotKnown, BodySize: &size, Content: content{Size: new(float64)},
		}
		return
	}
	h := capture.ParseResponseHead(r.Head)
	e.Response = response{
		Status: float64(h.Status), StatusText: h.Reason, HTTPVersion: h.Version, Headers: pairsOf(h.Fields),
		Cookies:     noCookies,
		RedirectURL: h.Fields.Get("Location"), HeadersSize: headSize(r.Head), BodySize: sizeOf(r.Body.Size),
		Content: content{MIMEType: h.Fields.Get("Content-Type"), Size: new(float64)},
	}
	data, decoded := exchangejson.ExportBody(&r.Body, h.Fields.Codings())
	if r.Stream {
		data, decoded = r.StreamBytes(), r.Body.Decoded
		e.EventStream.Written = []exchangejson.Event{}
		for i := range r.Events {
			j := exchangejson.EventOf(&r.Events[i])
			if at := r.Events[i].At; at != capture.NotKnown {
				j.Time = exchangejson.Time(x.Started.Add(at))
			}
			e.EventStream.Written = append(e.EventStream.Written, j)
		}
	}
	if data != nil {
		text, encoding := exchangejson.Text(data)
		e.Response.Content.Text, e.Response.Content.Encoding = &text, encoding
		*e.Response.Content.Size = float64(len(data))
		if saved := float64(int64(len(data)) - r.Body.Size); saved > 0 && r.Body.Size > 0 {
			e.Response.Content.Compression = &saved
		}
	} else if r.Body.Size > 0 {
		*e.Response.Content.Size = float64(r.Body.Size)
	}
	e.Extra.Response = exchangejson.ExtraOfResponse(r, e.Response.responseHead(), &h, decoded)
}

// noCookies fills HAR's lists of cookies, which would repeat the headers.
var noCookies = jsontext.Value("[]")

func headSize(head []byte) float64 {
	if head == nil {
		return capture.NotKnown
	}
	return float64(len(head))
}

func sizeOf(n int64) *float64 { return new(float64(n)) }

func pairsOf(fields capture.Fields) []pair {
	pairs := make([]pair, len(fields))
	for i, f := range fields {
		pairs[i] = pair(f)
	}
	return pairs
}

// queryOf returns the parameters of a target, decoded where they can be.
func queryOf(target string) []pair {
	_, query, _ := strings.Cut(target, "?")
	pairs := []pair{}
	for parameter := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		if parameter != "" {
			pairs = append(pairs, pair{unescape(name), unescape(value)})
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

// totalOf is how long an exchange took, as far as it was seen: HAR knows no open end.
func totalOf(x *capture.Exchange) *float64 {
	last := max(x.Took(), x.Request.Body.At, 0)
	if r := x.Response; r != nil {
		last = max(last, r.At, r.Body.At)
	}
	return exchangejson.Milliseconds(received(x, last))
}

// received returns an offset, or when the client left if that was earlier.
func received(x *capture.Exchange, at time.Duration) time.Duration {
	if took := x.Took(); took < x.Ended {
		return min(at, took)
	}
	return at
}

// timingsOf cuts the time of an exchange in three; -1 is a part that is not known.
func timingsOf(x *capture.Exchange) timings {
	unknown := float64(capture.NotKnown)
	t := timings{Send: &unknown, Wait: &unknown, Receive: &unknown}
	sent := x.Request.Body.At
	between := func(a, b time.Duration) *float64 {
		if a == capture.NotKnown || b == capture.NotKnown {
			return &unknown
		}
		return exchangejson.Milliseconds(max(0, received(x, b)-received(x, a)))
	}
	t.Send = between(0, sent)
	if r := x.Response; r != nil {
		t.Wait, t.Receive = between(sent, r.At), between(r.At, r.Body.At)
	}
	return t
}
