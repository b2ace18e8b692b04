package translate

import (
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
)

// The header fields that A2A defines (A2A 1.0 §3.2.6 and §3.6.1; the extensions guide of 0.3).
const (
	versionField      = "A2A-Version"
	extensionsField   = "A2A-Extensions"
	extensionsField03 = "X-A2A-Extensions"
)

// fields converts the header fields to another protocol: the media types of the binding, the version, the names of
// fields. All others stay, in order.
func fields(call *a2a.Call, from, to Protocol, hasBody bool, recorded []Field) ([]Field, error) {
	crossed := modern(from.Dialect) != modern(to.Dialect)
	if v := call.Version; crossed && v != "" && !names(v, from.Dialect) {
		return nil, fmt.Errorf("it names the version %q, but uses another one", v)
	}
	var out []Field
	typed, versioned := false, false
	for _, f := range recorded {
		switch name := strings.ToLower(f.Name); {
		case name == "content-type":
			if !hasBody || typed {
				continue
			}
			typed = true
			f.Value = contentType(to)
		case from.Binding != to.Binding && overGRPC(name):
			continue
		case to.Binding == a2a.GRPC && (name == "accept" || name == "accept-encoding"):
			continue
		case name == "accept":
			f.Value = accept(f.Value, to, call.Operation.Streams())
		case name == strings.ToLower(versionField):
			if crossed && !modern(to.Dialect) || versioned {
				continue
			}
			versioned = true
			if crossed {
				f.Value = to.Dialect.String()
			}
		case crossed && modern(to.Dialect) && name == strings.ToLower(extensionsField03):
			f.Name = extensionsField
		case crossed && !modern(to.Dialect) && name == strings.ToLower(extensionsField):
			f.Name = extensionsField03
		}
		out = append(out, f)
	}
	if hasBody && !typed {
		out = append(out, Field{"Content-Type", contentType(to)})
	}
	if from.Binding == a2a.GRPC && to.Binding != a2a.GRPC {
		out = append(out, Field{"Accept", accept("", to, call.Operation.Streams())})
	}
	switch {
	case versioned || !modern(to.Dialect):
	case crossed:
		out = append(out, Field{versionField, to.Dialect.String()})
	case call.Version != "": // it was in the query
		out = append(out, Field{versionField, call.Version})
	}
	return out, nil
}

// overGRPC reports whether a header field has a meaning only over gRPC.
func overGRPC(name string) bool { return strings.HasPrefix(name, "grpc-") || name == "te" }

func contentType(to Protocol) string {
	if to.Binding == a2a.GRPC {
		return "application/grpc"
	}
	return "application/json"
}

// names reports whether a version belongs to a dialect. 0.2 and 0.3 count as one.
func names(version string, d a2a.Dialect) bool {
	if modern(d) {
		return a2a.SameVersion(version, d.String())
	}
	return !a2a.VersionDialects(version).Intersect(a2a.Of(a2a.V0_2, a2a.V0_3)).Empty()
}

// accept returns the media types that a client of the binding accepts, if the request names none.
func accept(recorded string, to Protocol, streams bool) string {
	switch {
	case strings.Contains(recorded, "*/*"):
		return recorded
	case streams:
		return "text/event-stream, application/json"
	case to.Binding == a2a.HTTPJSON && modern(to.Dialect):
		return "application/a2a+json, application/json"
	}
	return "application/json"
}
