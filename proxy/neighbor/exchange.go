package neighbor

import (
	"strconv"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

// Read reads a recorded exchange that is not A2A, as far as it has come and was kept. It returns nil if the exchange is
// of no known kind. room is as for Recognize.
func Read(x *capture.Exchange, room int) *Reader {
	head := capture.ParseRequestHead(x.Request.Head)
	request := Request{Method: head.Method, Target: head.Target, Fields: head.Fields}
	if body, _ := x.Request.Body.Decode(&head); len(body) > 0 {
		if doc := jsondoc.Parse(body); doc.Err == nil {
			request.Body = doc.Root
		}
	}
	r := Recognize(request, room)
	if r == nil || x.Response == nil {
		return r
	}
	answer := capture.ParseResponseHead(x.Response.Head)
	r.Status(&answer)
	for i := range x.Response.Events {
		e := &x.Response.Events[i]
		r.Event(e, nil, e.At)
	}
	if body, _ := x.Response.Body.Decode(&answer); len(body) > 0 && !x.Response.Stream {
		r.Answer(answer.Status, body, nil)
	}
	r.Finished()
	return r
}

// Values returns the values of the call for a key of the filter language.
func (c *Call) Values(key string) (values []string) {
	switch key {
	case "op":
		return some(c.Operation)
	case "tool":
		if c.Operation == "tools/call" {
			return some(c.Subject)
		}
		for _, t := range c.Asked {
			values = append(values, t.Name)
		}
	case "model":
		if c.Kind == Model {
			return some(c.Subject)
		}
	case "tokens":
		if n := c.Input + c.Output; n > 0 {
			return []string{strconv.FormatInt(n, 10)}
		}
	}
	return values
}

func some(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
