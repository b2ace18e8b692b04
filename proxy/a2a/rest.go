package a2a

import "strings"

// decodeREST decodes a call of the HTTP+JSON binding, and reports whether the request is one.
func (c *Call) decodeREST(r *Request, path string, known *Known) bool {
	found, ok := findRoute(r.Method, path)
	if !ok {
		return c.unknownRoute(r, path, known)
	}
	base, below := known.base(path[:found.start])
	proven := below || found.distinctive || known.Bindings.Has(HTTPJSON) || c.Version != "" || bodyIsA2A(r, c.Doc.Root)
	if !proven || found.operation == NoOperation &&
		!below && !known.Bindings.Has(HTTPJSON) && !c.headIsA2A(r) && !found.message {
		return false
	}
	if below && base.holds(path[:found.start]) {
		found, c.Tenant = base.tenant(r.Method, path, found)
	}
	c.Binding, c.Operation, c.Params = HTTPJSON, found.operation, c.Doc.Root
	c.TaskID, c.ConfigID = found.task, found.config
	prefix := strings.TrimRight(path[:found.start], "/") // the proto file of 0.2.2 has "/v1//message:send"
	c.Route = strings.TrimPrefix(path[found.start:], "/")
	c.Dialects, c.Evidence = c.restDialects(found, prefix, base, below)
	c.Prefix = c.restPrefix(prefix, base, below)
	if c.Operation == GetExtendedCard && found.dialects == Of(V0_2) {
		c.Binding, c.Prefix = NoBinding, "" // it belongs to no interface
	}
	c.readParams()
	if spoken := base.Dialects | known.REST; c.Operation == NoOperation && !spoken.Empty() {
		c.Dialects, c.Evidence = spoken, NoEvidence
	}
	return true
}

// unknownRoute decodes a request that is meant for a known interface but has no valid route.
func (c *Call) unknownRoute(r *Request, path string, known *Known) bool {
	base, below := known.base(path)
	if !below || len(known.Other) > len(base.Path) || strings.Contains(path, "/.well-known/") {
		return false
	}
	rest := path[len(base.Path):]
	if !looksLikeRoute(rest) && !(c.headIsA2A(r) && isOwnPath(base, rest)) {
		return false
	}
	c.Binding, c.Prefix, c.Params = HTTPJSON, base.Path, c.Doc.Root
	c.Route = strings.TrimPrefix(rest, "/")
	c.Dialects = base.Dialects
	return true
}

// isOwnPath reports whether a path below an interface cannot belong to another agent. If the interface is the root of a
// host, all deeper paths may.
func isOwnPath(base Base, rest string) bool {
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "/v1"), "/")
	return rest != "" && (base.Path != "" || !strings.Contains(rest, "/"))
}

// headIsA2A reports whether the head of a request identifies it as A2A.
func (c *Call) headIsA2A(r *Request) bool {
	return c.Version != "" || r.header("A2A-Extensions") != "" || r.header("X-A2A-Extensions") != "" ||
		strings.HasPrefix(r.header("Content-Type"), "application/a2a+json") ||
		strings.Contains(r.header("Accept"), "application/a2a+json")
}

// bodyIsA2A reports whether a request at an ambiguous path has something in its body that only A2A has.
func bodyIsA2A(r *Request, root Value) bool {
	if strings.HasPrefix(r.header("Content-Type"), "application/a2a+json") ||
		strings.Contains(r.header("Accept"), "application/a2a+json") {
		return true
	}
	return isMessage(first(root, "message", "request")) || strings.HasPrefix(root.Get("name").Text(), "tasks/")
}

// base returns the longest known interface at or above a path, all dialects that cards declare there, and whether such
// an interface exists.
func (k *Known) base(path string) (Base, bool) {
	var best Base
	found := false
	for _, b := range k.Bases {
		if rest, ok := strings.CutPrefix(path, b.Path); !ok || rest != "" && rest[0] != '/' {
			continue
		}
		switch {
		case !found || len(b.Path) > len(best.Path):
			best, found = b, true
		case b.Path == best.Path:
			best.Dialects |= b.Dialects
			if best.Tenant == "" {
				best.Tenant = b.Tenant
			}
		}
	}
	return best, found
}

// holds reports whether the path between the interface and the route is at most "v1" or one tenant.
func (b Base) holds(prefix string) bool { return strings.Count(prefix[len(b.Path):], "/") <= 1 }

// tenant returns the route and the tenant of a path below the interface. "/tasks/tasks" is the task "tasks" unless the
// card declares a tenant of that name.
func (b Base) tenant(method, path string, found route) (route, string) {
	if own := b.Tenant; own != "" {
		if rest, ok := strings.CutPrefix(path, b.Path+"/"+own); ok && strings.HasPrefix(rest, "/") {
			if r, ok := findRoute(method, rest); ok && r.start == 0 {
				r.start += len(path) - len(rest)
				return r, own
			}
		}
	}
	extra := strings.TrimPrefix(path[len(b.Path):found.start], "/")
	if extra == "" || extra == "v1" || b.Dialects == b.Dialects&before1 && !b.Dialects.Empty() {
		return found, ""
	}
	return found, unescapePath(extra)
}

// restDialects weighs the evidence for the dialect of a call over HTTP+JSON, which has no method name: the version that
// the client names, the cards' declarations for the interface, the path, and the body. A shape in the body that exists
// on only one side decides, unless both version and card say 1.0: then the shape is an error in a request of 1.0.
// Without such a shape the version counts most.
func (c *Call) restDialects(found route, prefix string, base Base, below bool) (Dialects, Evidence) {
	declared := base.Dialects
	if !below {
		declared = 0
	}
	named := VersionDialects(c.Version)
	c.surely1_0 = named == onlyV1_0 || named.Empty() && declared == onlyV1_0
	shape, spelling := c.restMarks()
	if !shape.Empty() && !(named == onlyV1_0 && declared == onlyV1_0) {
		c.surely1_0 = false
		return shape, Decisive
	}
	path, weight := pathDialects(prefix, base.Path, declared)
	in, evidence := named, Strong
	switch {
	case named.Empty():
		in, evidence = c.weighREST(found, path, weight, declared, spelling)
	case named != onlyV1_0: // the client asks for the semantics of 0.3, which 0.2 shares
		in = kindDialects
	case spelling.Empty():
	case !declared.Empty() && !declared.Has(V1_0): // all but a header, which agents before 1.0 do not read
		in = kindDialects
	case declared != onlyV1_0 && path == kindDialects:
		in, evidence = kindDialects|onlyV1_0, Hint
	}
	c.surely1_0 = c.surely1_0 && in == onlyV1_0
	return in, evidence
}

// pathDialects returns the dialects that have a route at a path, and the weight of that evidence; the empty set if
// unknown.
func pathDialects(prefix, base string, declared Dialects) (Dialects, int) {
	switch under := strings.HasSuffix(prefix, "/v1"); {
	case under && !declared.Empty() && prefix == base: // it belongs to the interface
		return 0, 0
	case under && !declared.Empty(): // 1.0 has no such route
		return kindDialects, 4
	case under:
		return kindDialects, 2
	}
	return onlyV1_0, 2
}

// weighREST weighs the evidence for the dialect of a call that names no version. If the evidence for and against 1.0 is
// equal, both are returned. Agents treat a request without a version as 0.3 (A2A 1.0 §3.6.2), and so do those that
// declare both.
func (c *Call) weighREST(found route, path Dialects, weight int, declared, spelling Dialects) (Dialects, Evidence) {
	if found.dialects.Intersect(onlyV1_0).Empty() || found.dialects == onlyV1_0 {
		return found.dialects, Strong
	}
	var v ballot
	v.add(declared, 3)
	if !declared.Intersect(kindDialects).Empty() && declared.Has(V1_0) {
		v.add(kindDialects, 2)
	}
	v.add(path, weight)
	v.add(spelling, 2)
	if c.Tenant != "" { // in the path, where 0.x has none
		v.add(onlyV1_0, 2)
	}
	if c.Operation.Sends() {
		v.add(sendParamsDialects(c.Params)&^onlyV0_1, 2) // which has no such binding
	}
	switch {
	case v.modern > v.legacy:
		return onlyV1_0, Strong
	case v.modern < v.legacy:
		return kindDialects, Strong
	}
	return kindDialects | onlyV1_0, Hint
}

// A ballot sums up the evidence for 1.0, and for 0.2 and 0.3.
type ballot struct{ modern, legacy int }

// add counts a piece of evidence, unless it fits both.
func (b *ballot) add(in Dialects, weight int) {
	switch {
	case in == onlyV1_0:
		b.modern += weight
	case !in.Empty() && !in.Has(V1_0):
		b.legacy += weight
	}
}

// restPrefix returns the path of the interface: the path before the route without the tenant, and without the "v1" that
// belongs to the routes of 0.x.
func (c *Call) restPrefix(prefix string, base Base, below bool) string {
	if below && base.holds(prefix) {
		return base.Path
	}
	if c.Dialects.Intersect(onlyV1_0).Empty() {
		return strings.TrimSuffix(prefix, "/v1")
	}
	return prefix
}
