package a2a

// A PartKind is the kind of a part's content.
type PartKind uint8

// The kinds of parts. In 1.0 a file is Raw or URL; in earlier versions it is one of them depending on its bytes or uri.
const (
	UnknownPart PartKind = iota // nothing that a dialect knows, or more than one thing
	TextPart
	RawPart // a file in base64
	URLPart // a file by reference
	DataPart
	FilePart // a file of 0.x with neither bytes nor uri, or both
)

// A Part is a piece of content of a message or artifact.
type Part struct{ Value }

// PartKind returns the kind of the part's content: by the discriminator of 0.1 ("type") or of 0.2 and 0.3 ("kind") if
// present, otherwise by its members.
func (p Part) PartKind() PartKind {
	if text := p.Get("text"); text.Exists() && !text.IsNull() && p.Len() == 1 { // as most are
		return TextPart
	}
	return p.anyKind()
}

// anyKind is PartKind for parts that are not plain text.
func (p Part) anyKind() PartKind {
	discriminator := first(p.Value, "kind", "type")
	switch {
	case discriminator.Is("text"):
		return TextPart
	case discriminator.Is("data"):
		return DataPart
	case discriminator.Is("file"):
		return p.fileKind()
	}
	return p.bareKind()
}

// bareKind identifies a part without a discriminator: 1.0, the proto JSON of 0.x, or early 0.1. A member that is null
// counts as not set, except "data" (ProtoJSON; A2A 1.0 §4.1.6).
func (p Part) bareKind() PartKind {
	kind, set := UnknownPart, 0
	for _, m := range [...]struct {
		name string
		kind PartKind
	}{{"text", TextPart}, {"raw", RawPart}, {"url", URLPart}, {"file", FilePart}} {
		if v := p.Get(m.name); v.Exists() && !v.IsNull() {
			kind = m.kind
			set++
		}
	}
	if p.Has("data") {
		kind = DataPart
		set++
	}
	switch {
	case set != 1:
		return UnknownPart
	case kind == FilePart:
		return p.fileKind()
	}
	return kind
}

func (p Part) fileKind() PartKind {
	file := p.Get("file")
	bytes, uri := first(file, "bytes", "fileWithBytes"), first(file, "uri", "fileWithUri")
	switch inline, reference := bytes.Kind() == String, uri.Kind() == String; {
	case inline && !reference:
		return RawPart
	case reference && !inline:
		return URLPart
	}
	return FilePart
}

// Text returns the text of a text part.
func (p Part) Text() string { return p.Get("text").Text() }

// Bytes returns the member that holds a file in base64.
func (p Part) Bytes() Value {
	if raw := p.Get("raw"); raw.Exists() {
		return raw
	}
	return first(p.Get("file"), "bytes", "fileWithBytes")
}

// URI returns the member that holds the reference to a file.
func (p Part) URI() Value {
	if url := p.Get("url"); url.Exists() {
		return url
	}
	return first(p.Get("file"), "uri", "fileWithUri")
}

// Data returns the value of a data part; the proto JSON of 0.x has it one level deeper.
func (p Part) Data() Value {
	data := p.Get("data")
	if inner := data.Get("data"); data.Len() == 1 && inner.Kind() == Object && !p.Has("kind") && !p.Has("type") {
		return inner
	}
	return data
}

// MediaType returns the media type of a part of 1.0, or of a file of 0.x.
func (p Part) MediaType() string {
	return firstText(p.Get("mediaType"), p.Get("file").Get("mimeType"))
}

// Filename returns the name of a file.
func (p Part) Filename() string {
	return firstText(p.Get("filename"), p.Get("file").Get("name"))
}
