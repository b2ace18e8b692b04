package refagent

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// A grpcBinding implements an agent's gRPC binding.
type grpcBinding struct {
	service string
	dialect model.Dialect
}

// Both generations of gRPC.
var (
	grpc10 = &grpcBinding{grpc.Service1_0, dialect.V10{}}
	grpc03 = &grpcBinding{grpc.Service0_3, dialect.V03grpc{}}
)

// offers reports whether the agent serves a binding.
func (s *service) offers(b wire.Binding) bool { return slices.Contains(s.served.Bindings, b) }

// asksGRPC returns the called method, if the request is a gRPC call to the agent's own service.
func (a *Agent) asksGRPC(r *http.Request, path string) (grpc.Method, bool) {
	m, ok := grpc.MethodOf(path)
	return m, ok && a.offers(wire.GRPC) && m.Service == a.profile.grpc.service && r.Method == http.MethodPost &&
		grpc.IsMedia(r.Header.Get("Content-Type"))
}

// serveGRPC answers gRPC (A2A 0.3 §3.2.2, 1.0 §10). Only HTTP/2 has the trailers that it needs.
func (a *Agent) serveGRPC(w http.ResponseWriter, r *http.Request, m grpc.Method) {
	if d, ok := grpc.ParseTimeout(r.Header.Get(grpc.TimeoutField)); ok {
		ctx, cancel := context.WithTimeout(r.Context(), d)
		defer cancel()
		r = r.WithContext(ctx)
	}
	c := &wire.Call{
		Binding: wire.GRPC, Dialect: a.profile.grpc.dialect, MediaType: "application/grpc",
		Envelope: func(result any) any { return result },
	}
	f := a.authenticate(r)
	if f == nil {
		f = a.readGRPC(w, r, c, m)
	}
	if f != nil {
		a.failGRPC(w, c, f)
		return
	}
	a.readHeader(c.Request, r)
	result, f := a.perform(r.Context(), c)
	codec := grpc.Codec{Type: m.Answer}
	switch {
	case f != nil:
		a.failGRPC(w, c, f)
	case result.Stream != nil:
		head := wire.NewAnswer(http.StatusOK, c.MediaType, nil)
		err := a.stream(r.Context(), w, c, head, result.Stream, func(f *wire.Frame) ([]byte, error) {
			if f.Text != nil {
				return nil, nil // which is no message
			}
			return message(codec, f.Body)
		})
		endGRPC(w, r.Context(), head, err)
	default:
		out := wire.NewAnswer(http.StatusOK, c.MediaType, c.Dialect.Result(c.Op, result))
		if a.hooks.Answer != nil {
			a.hooks.Answer(c, out)
		}
		text, err := message(codec, out.Body)
		out.WriteHead(w)
		if err == nil {
			if out.More != nil {
				text = grpc.AppendFrame(nil, slices.Concat(text[grpc.PrefixSize:], out.More))
			}
			w.Write(text) // an error means that the client has left
		}
		endGRPC(w, r.Context(), out, err)
	}
}

// message returns a JSON tree as a message with its prefix.
func message(codec grpc.Codec, body any) ([]byte, error) {
	doc := jsondoc.Parse(jsonvalue.Append(nil, body))
	return codec.Write(doc.Root)
}

// readGRPC reads the message of a request into c.
func (a *Agent) readGRPC(w http.ResponseWriter, r *http.Request, c *wire.Call, m grpc.Method) *model.Failure {
	op, known := c.Dialect.Operation(m.Name)
	if f := a.checkVersion(version(r), true); f != nil {
		return f
	}
	if !known || !m.Known() {
		return model.Fail(model.CodeMethodNotFound, "No such method: "+m.Name)
	}
	c.Op = op
	body, f := readBounded(w, r, "The request is larger than 16 MiB")
	if f != nil {
		return f
	}
	return a.decode(c, func() (jsonvalue.Object, *model.Failure) {
		codec := grpc.Codec{Type: m.Request, Encoding: r.Header.Get("Grpc-Encoding")}
		read := codec.Read(body)
		if body == nil || read.Err != nil {
			return nil, model.Fail(model.CodeInvalidRequest, "The message could not be read")
		}
		v, err := jsonvalue.Parse(read.Text)
		if err != nil {
			return nil, model.Fail(model.CodeInternal, "Internal error")
		}
		return v.(jsonvalue.Object), nil
	})
}

// failGRPC answers with a status and its details (A2A 1.0 §10.6), in one block of fields.
func (a *Agent) failGRPC(w http.ResponseWriter, c *wire.Call, f *model.Failure) {
	c.Failure = f
	code := grpcCode(f)
	out := wire.NewAnswer(http.StatusOK, c.MediaType, jsonvalue.Object{{"error", jsonvalue.Object{
		{"code", int(code)}, {"status", code.String()}, {"message", f.Message},
	}.List("details", c.Dialect.Details(f))}})
	if a.hooks.Answer != nil {
		a.hooks.Answer(c, out)
	}
	if !out.Trailerless {
		doc := jsondoc.Parse(jsonvalue.Append(nil, out.Body))
		failed := doc.Root.Get("error")
		number, err := strconv.Atoi(string(failed.Get("code").Raw()))
		if err != nil {
			number = int(code)
		}
		status := grpc.Status{Code: grpc.Code(number), Message: failed.Get("message").Text()}
		if err := status.Write(out.Header.Set, failed.Get("details")); err != nil {
			a.opts.Log("write an error: " + err.Error())
		}
	}
	out.WriteHead(w)
}

// grpcCode returns the status of a failure (A2A 1.0 §5.4).
func grpcCode(f *model.Failure) grpc.Code {
	if f.Code == model.CodeMethodNotFound {
		return grpc.Unimplemented
	}
	code, ok := grpc.ParseCode(f.StatusName())
	if !ok {
		return grpc.Internal
	}
	return code
}

// endGRPC writes the status of a call to the trailer: OK, unless its deadline has passed, or a response could not be
// written.
func endGRPC(w http.ResponseWriter, ctx context.Context, out *wire.Answer, err error) {
	if out.Trailerless {
		return
	}
	status := grpc.Status{Code: grpc.Code(out.Ends)}
	switch {
	case err != nil:
		status = grpc.Status{Code: grpc.Internal, Message: "The answer cannot be written: " + err.Error()}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		status = grpc.Status{Code: grpc.DeadlineExceeded, Message: "The time of the client is over"}
	}
	set := func(name, value string) { w.Header().Set(http.TrailerPrefix+name, value) }
	if err := status.Write(set, jsondoc.Value{}); err != nil {
		panic(err) // it has no details
	}
}
