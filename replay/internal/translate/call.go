package translate

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"a2atap/proxy/a2a"
)

// Call translates a call to another protocol. The error gives the reason why that is impossible, as a phrase to follow
// "it".
func Call(call *a2a.Call, to Protocol, o Options) (*Request, error) {
	from, err := source(call, to)
	if err != nil {
		return nil, err
	}
	r, err := translate(call, from, to, o)
	if err != nil {
		return nil, fmt.Errorf("cannot be expressed in %s: %w", to, err)
	}
	if r.Fields, err = fields(call, from, to, r.Body != nil, o.Fields); err != nil {
		return nil, fmt.Errorf("cannot be expressed in %s: %w", to, err)
	}
	return r, nil
}

// source returns the protocol of a call. If the dialect is ambiguous, it takes a possible one.
func source(call *a2a.Call, to Protocol) (Protocol, error) {
	from := Protocol{Binding: call.Binding, Dialect: to.Dialect}
	before1 := a2a.Of(a2a.V0_2, a2a.V0_3)
	switch in := call.Dialects; {
	case !to.speaks(), to.Dialect == a2a.V0_1:
		return from, fmt.Errorf("cannot be expressed in %s, which is not supported", to)
	case call.Doc.Err != nil:
		return from, errors.New("has a body that is not JSON")
	case call.Batch != nil:
		return from, errors.New("is a JSON-RPC batch")
	case call.Operation == a2a.GetExtendedCard && call.Binding == a2a.NoBinding: // of 0.2, next to the JSON-RPC URL
		from = Protocol{a2a.HTTPJSON, a2a.V0_2}
	case call.Binding == a2a.NoBinding || call.Operation == a2a.NoOperation:
		return from, errors.New("is not an operation of A2A")
	case call.Apart:
		return from, errors.New("uses the dialect before 0.1")
	case !utf8.ValidString(call.TaskID + "\n" + call.ConfigID + "\n" + call.Tenant):
		return from, errors.New("has an id in its path that is not UTF-8")
	case len(call.Doc.Duplicates) > 0:
		return from, fmt.Errorf("has the member %s twice", call.Doc.Duplicates[0].Pointer)
	case in.Has(to.Dialect):
	case in.Has(a2a.V1_0) && !in.Intersect(before1).Empty():
		return from, fmt.Errorf("does not show which dialect it uses: %s", in)
	case in.Has(a2a.V1_0):
		from.Dialect = a2a.V1_0
	case in.Has(a2a.V0_3):
		from.Dialect = a2a.V0_3
	case in.Has(a2a.V0_2):
		from.Dialect = a2a.V0_2
	case in.Has(a2a.V0_1):
		return from, errors.New("is in 0.1, where clients create the ids of tasks")
	default:
		return from, errors.New("does not show its dialect")
	}
	if !from.speaks() {
		return from, fmt.Errorf("is in %s, which is not supported", from)
	}
	return from, nil
}

func translate(call *a2a.Call, from, to Protocol, o Options) (*Request, error) {
	params, query, err := read(call, from, o)
	if err != nil {
		return nil, err
	}
	tenant := call.Tenant
	params = withoutTenant(params)
	if params, err = inDialect(call.Operation, params, from.Dialect, to.Dialect, false); err != nil {
		return nil, err
	}
	if !modern(to.Dialect) && tenant != "" {
		return nil, fmt.Errorf("it has no tenants, and the request names %q", tenant)
	}
	if modern(to.Dialect) && tenant == "" {
		tenant = o.Tenant
	}
	r, err := write(call.Operation, params, to, manner{tenant: tenant, id: requestID(call, o)})
	if query != "" && r.Query != "" {
		query = "&" + query
	}
	r.Query += query
	return &r, err
}

// read returns the parameters of a call in the JSON-RPC form of its dialect, and the query to pass on.
func read(call *a2a.Call, from Protocol, o Options) (params a2a.Value, query string, err error) {
	if from.Binding == a2a.HTTPJSON {
		return readREST(call, from.Dialect, o.Carry)
	}
	carryAll := func(string, string) bool { return true }
	if query, err = readQuery(nil, call, nil, carryAll); err != nil {
		return params, "", err
	}
	switch {
	case from.Binding == a2a.GRPC && !modern(from.Dialect):
		params, err = readGRPC03(call)
	case from.Binding == a2a.GRPC:
		params, err = parameters(call.Params)
	default:
		params, err = readRPC(call)
	}
	return params, query, err
}

// requestID returns the JSON-RPC id of a request, as JSON.
func requestID(call *a2a.Call, o Options) []byte {
	switch {
	case call.ID.Exists():
		return call.ID.Raw()
	case o.ID == "":
		return []byte(`"1"`)
	}
	return quote(o.ID)
}
