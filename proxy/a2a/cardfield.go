package a2a

import "strings"

// A Field is a member that cards of some dialects must have.
type Field struct {
	Path string // a JSON Pointer; "*" means every element; parents may be missing
	Kind Kind
	In   Dialects
}

// cardFields holds 0.1 §5.5, 0.2 §5.5, 0.3 §5.5 with its types, 1.0 §4.4, parents first. It lacks the protocolVersion of
// 0.2, which came with 0.2.5; the members of security schemes, which depend on their type; those of signatures; and the
// uri of an extension, which 1.0 does not mark as required.
var cardFields = [...]Field{
	{"/protocolVersion", String, onlyV0_3},
	{"/name", String, allDialects},
	{"/description", String, kindDialects | onlyV1_0},
	{"/url", String, before1},
	{"/supportedInterfaces", Array, onlyV1_0},
	{"/version", String, allDialects},
	{"/capabilities", Object, allDialects},
	{"/defaultInputModes", Array, kindDialects | onlyV1_0},
	{"/defaultOutputModes", Array, kindDialects | onlyV1_0},
	{"/skills", Array, allDialects},
	{"/supportedInterfaces/*/url", String, onlyV1_0},
	{"/supportedInterfaces/*/protocolBinding", String, onlyV1_0},
	{"/supportedInterfaces/*/protocolVersion", String, onlyV1_0},
	{"/additionalInterfaces/*/url", String, kindDialects},
	{"/additionalInterfaces/*/transport", String, kindDialects},
	{"/authentication/schemes", Array, onlyV0_1},
	{"/skills/*/id", String, allDialects},
	{"/skills/*/name", String, allDialects},
	{"/skills/*/description", String, kindDialects | onlyV1_0},
	{"/skills/*/tags", Array, kindDialects | onlyV1_0},
	{"/provider/organization", String, allDialects},
	{"/provider/url", String, kindDialects | onlyV1_0},
}

// MissingFields returns the names of top-level members that the dialect requires and that are missing or null, except
// for protocolVersion. For a card over gRPC, it returns only those that cannot be empty.
func (c Card) MissingFields(d Dialect) []string {
	var missing []string
	for _, f := range cardFields {
		name := f.Path[1:]
		if f.In.Has(d) && !strings.Contains(name, "/") && name != "protocolVersion" && !present(c.Get(name)) && !c.mayBeBlank(f.Kind) {
			missing = append(missing, name)
		}
	}
	return missing
}

// MissingNested returns JSON Pointers of members that the dialect requires in nested objects and that are missing or
// null: those of cardFields, of security schemes and of their flows.
func (c Card) MissingNested(d Dialect) []string {
	var missing []string
	for _, f := range cardFields {
		parent, name := f.Path[:strings.LastIndexByte(f.Path, '/')], f.Path[strings.LastIndexByte(f.Path, '/')+1:]
		if !f.In.Has(d) || parent == "" || c.mayBeBlank(f.Kind) {
			continue
		}
		list, each := strings.CutSuffix(parent, "/*")
		object := c.At(list)
		if !each && lacks(object, name) {
			missing = append(missing, Ptr(list, name))
		}
		for i, v := range object.Elems() {
			if lacks(v, name) {
				missing = append(missing, Ptr(list, i, name))
			}
		}
	}
	if d == V0_1 {
		return missing
	}
	return c.missingOfSchemes(missing, d)
}

// schemeFields are the members that a security scheme must have, by its type; an API key also has a location.
var schemeFields = [...][]string{
	UnknownScheme:       nil,
	APIKeyScheme:        {"name"},
	HTTPScheme:          {"scheme"},
	OAuth2Scheme:        {"flows"},
	OpenIDConnectScheme: {"openIdConnectUrl"},
	MutualTLSScheme:     nil,
}

// flowFields are the members that an OAuth flow must have.
var flowFields = [...]struct {
	flow   string
	in     Dialects
	fields []string
}{
	{"authorizationCode", kindDialects | onlyV1_0, []string{"authorizationUrl", "tokenUrl", "scopes"}},
	{"clientCredentials", kindDialects | onlyV1_0, []string{"tokenUrl", "scopes"}},
	{"deviceCode", onlyV1_0, []string{"deviceAuthorizationUrl", "tokenUrl", "scopes"}},
	{"implicit", kindDialects, []string{"authorizationUrl", "scopes"}},
	{"password", kindDialects, []string{"tokenUrl", "scopes"}},
}

func (c Card) missingOfSchemes(missing []string, d Dialect) []string {
	for _, s := range SecuritySchemes(c.Value) {
		at := func() string { return strings.TrimPrefix(s.Pointer(), c.Pointer()) }
		for _, name := range schemeFields[s.Type] {
			if lacks(s.Value, name) && (!c.Blank || name == "flows") {
				missing = append(missing, Ptr(at(), name))
			}
		}
		if c.Blank {
			continue
		}
		if s.Type == APIKeyScheme {
			place := "in"
			if s.Wrapped {
				place = "location"
			}
			if lacks(s.Value, place) {
				missing = append(missing, Ptr(at(), place))
			}
		}
		for _, f := range flowFields {
			if !f.in.Has(d) {
				continue
			}
			flow := s.Get("flows").Get(f.flow)
			for _, name := range f.fields {
				if lacks(flow, name) {
					missing = append(missing, Ptr(at(), "flows", f.flow, name))
				}
			}
		}
	}
	return missing
}

// mayBeBlank reports whether a missing member of that kind may be present and empty.
func (c Card) mayBeBlank(k Kind) bool { return c.Blank && k != Object }

// lacks reports whether object is an object without that member.
func lacks(object Value, name string) bool {
	return object.Kind() == Object && !present(object.Get(name))
}

func present(v Value) bool { return v.Exists() && !v.IsNull() }
