package object

import (
	"bytes"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Files is the family of rules about the content of files: bytes, references and media types.
var Files = rule.Family{
	Name:     "file",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.PartSeen | analysis.FrameSeen,
}.Of(
	partFileXor,
	partFileXorV01,
	partBase64,
	partURLAbsolute,
	partMediaTypeSyntax,
	outputModeAccepted,
)

var partFileXor = &analysis.Rule{
	ID:       "part-file-xor",
	Title:    "file with both bytes and uri, or neither",
	Level:    analysis.Must,
	Either:   true,
	On:       analysis.FrameSeen,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("6.6", a2a.V0_2, a2a.V0_3),
	Covers:   []string{"unknown-field"},
	Stands:   "0.2.6:types:410 0.3.0:types:768",
	Doc: `A file has either its bytes or a uri to fetch it from. With both, a receiver does not know which one counts;
with neither, there is no file.`,
	Fix:    `Write "bytes" for a file that is sent inline and "uri" for a file that is fetched, and leave the other out.`,
	Silent: `Members that are null. Over HTTP+JSON the names fileWithBytes and fileWithUri count too.`,
	Check: func(p *analysis.Pass) {
		if p.Entity.Type != a2a.FileEntity {
			return
		}
		p.Applied()
		switch inline, reference := fileContent(p); {
		case inline.Exists() && reference.Exists():
			p.Report(p.Here(), "the file has both bytes and uri", "expected exactly one of them")
		case !inline.Exists() && !reference.Exists():
			p.Report(p.Here(), "the file has neither bytes nor uri", "expected exactly one of them")
		}
	},
}

// fileContent returns the content of the current file: its bytes and its reference.
func fileContent(p *analysis.Pass) (inline, reference a2a.Value) {
	inline, reference = p.Entity.Member("bytes"), p.Entity.Member("uri")
	if p.Entity.Proto() {
		if !inline.Exists() {
			inline = p.Entity.Member("fileWithBytes")
		}
		if !reference.Exists() {
			reference = p.Entity.Member("fileWithUri")
		}
	}
	return inline, reference
}

var partFileXorV01 = &analysis.Rule{
	ID:       "part-file-xor-v01",
	Title:    "file of 0.1 with both bytes and uri",
	Level:    analysis.Must,
	Either:   true,
	On:       analysis.FrameSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.6", a2a.V0_1),
	Stands:   "0.1.0:602",
	Doc:      `A file has either its bytes or a uri to fetch it from. With both, a receiver does not know which one counts.`,
	Fix: `Write "bytes" for a file that is sent inline and "uri" for a file that is fetched, and leave the other out
or null.`,
	Silent: `A file with neither: 0.1 allows a file with only a name.`,
	Check: func(p *analysis.Pass) {
		if p.Entity.Type != a2a.FileEntity {
			return
		}
		p.Applied()
		if inline, reference := fileContent(p); inline.Exists() && reference.Exists() {
			p.Report(p.Here(), "the file has both bytes and uri", "expected one of them")
		}
	},
}

var partBase64 = &analysis.Rule{
	ID:       "part-base64",
	Title:    "bytes of a file are not base64",
	Level:    analysis.Must,
	Either:   true,
	If:       analysis.HasContent,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.6", rule.Before1...).And("4.1.6", a2a.V1_0),
	Stands:   "0.1.0:583 0.2.6:types:412 0.3.0:types:766 1.0.1:proto:228",
	Doc: `The bytes of a file in a message are base64. Bytes that cannot be decoded are lost, and typed receivers
refuse the whole message.`,
	Fix:    `Encode the bytes with a base64 library, without a "data:" prefix. Send text as a text part.`,
	Silent: `The URL-safe alphabet, missing padding, and line ends or spaces between the letters.`,
	Check: func(p *analysis.Pass) {
		v, name := ofFile(p, "raw", "bytes", "fileWithBytes")
		if v.Kind() != a2a.String {
			return
		}
		p.Applied()
		if !isBase64(content(v)) {
			p.Report(p.Here(name), name+" is "+analysis.Quote(v), "expected base64")
		}
	},
}

// ofFile returns a member of the part of 1.0 or the file of 0.x at hand, by its name there and, over HTTP+JSON, by its
// other name before 1.0; an Absent one if the current observation is neither.
func ofFile(p *analysis.Pass, modern, old, proto string) (a2a.Value, string) {
	switch {
	case p.Entity.Type == a2a.PartEntity && p.Entity.Modern():
		return p.Entity.Member(modern), modern
	case p.Entity.Type != a2a.FileEntity:
		return a2a.Value{}, ""
	case proto != "" && p.Entity.Proto() && !p.Entity.Member(old).Exists():
		return p.Entity.Member(proto), proto
	}
	return p.Entity.Member(old), old
}

// isBase64 reports whether a text can be decoded as base64 with the alphabet of RFC 4648 §4 or of §5, padded or not.
func isBase64(text []byte) bool {
	letters, padding, plain, forURLs := 0, 0, false, false
	for _, c := range text {
		switch {
		case c == ' ', c == '\n', c == '\r', c == '\t':
			continue
		case c == '=':
			padding++
			continue
		case padding > 0:
			return false
		case c == '+', c == '/':
			plain = true
		case c == '-', c == '_':
			forURLs = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		default:
			return false
		}
		letters++
	}
	if plain && forURLs || letters%4 == 1 || padding > 2 {
		return false
	}
	return padding == 0 || (letters+padding)%4 == 0
}

var partURLAbsolute = &analysis.Rule{
	ID:       "part-url-absolute",
	Title:    "reference to a file is not an absolute URI",
	Level:    analysis.Should,
	Either:   true,
	If:       analysis.HasContent,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.6", rule.Before1...).And("4.1.6", a2a.V1_0),
	Stands:   "0.1.0:584 0.2.6:types:421 0.3.0:types:778 1.0.1:proto:230",
	Doc: `A file by reference is fetched by the receiver of the message. A path without a host means nothing on
another machine.`,
	Fix:    `Write the full URI with scheme and host, and one that the other side can reach.`,
	Silent: `Whether the file exists. URIs of any scheme are fine, including "data:".`,
	Check: func(p *analysis.Pass) {
		v, name := ofFile(p, "url", "uri", "fileWithUri")
		if v.Kind() != a2a.String {
			return
		}
		p.Applied()
		if !hasScheme(v) {
			p.Report(p.Here(name), name+" is "+analysis.Quote(v), "expected an absolute URI")
		}
	},
}

var partMediaTypeSyntax = &analysis.Rule{
	ID:       "part-media-type-syntax",
	Title:    "media type of a part or file is malformed",
	Level:    analysis.Should,
	Either:   true,
	If:       analysis.HasContent,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.6", rule.Before1...).And("4.1.6", a2a.V1_0),
	Stands:   "0.1.0:598 0.2.6:types:404 0.3.0:types:756 1.0.1:proto:239",
	Doc: `Receivers decide by the media type how to show or read the content. "png" or "text" is not a media type, so
the handlers for image/png or text/plain are not found.`,
	Fix:    `Write type and subtype, such as image/png, text/plain or application/json.`,
	Silent: `Media types that are not registered, parameters, and an empty text.`,
	Check: func(p *analysis.Pass) {
		v, name := ofFile(p, "mediaType", "mimeType", "")
		if v.Kind() != a2a.String || v.Is("") {
			return
		}
		p.Applied()
		if !rule.IsMediaType(v.Text()) {
			p.Report(p.Here(name), name+" is "+analysis.Quote(v), "expected type/subtype")
		}
	},
}

var outputModeAccepted = &analysis.Rule{
	ID:       "output-mode-accepted",
	Title:    "output has a media type that the client does not accept",
	Level:    analysis.Should,
	If:       analysis.HasContent,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("7.1.1", a2a.V0_2, a2a.V0_3).And("3.2.2", a2a.V1_0),
	Stands:   "0.2.6:types:293 0.3.0:types:618 1.0.1:proto:144",
	Doc: `With acceptedOutputModes a client says what it can show or read. It cannot use an artifact of another type,
although the task appears to have succeeded.`,
	Fix: `Check acceptedOutputModes before choosing a format. Convert the output, or answer
ContentTypeNotSupportedError (-32005) if the agent cannot.`,
	Silent: `Parts that declare no media type, messages of a status or a history, requests without acceptedOutputModes.
Parameters of media types are ignored, and short names such as "text" match every subtype. Before 1.0, where no sentence
requires the agent to honor the list, the finding is a note.`,
	Check: func(p *analysis.Pass) {
		if p.Entity.In != a2a.InArtifact && p.Entity.In != a2a.InResult || !p.Exchange.Call.Operation.Sends() {
			return
		}
		v, name := ofFile(p, "mediaType", "mimeType", "")
		accepted := acceptedModes(p)
		if v.Kind() != a2a.String || !accepted.Elem(0).Exists() {
			return
		}
		declared := mediaRange(content(v))
		if !rule.IsMediaType(string(declared)) {
			return
		}
		p.Applied()
		for i, mode := range accepted.Elems() {
			if i >= maxModes || mode.Kind() != a2a.String || acceptsType(mediaRange(content(mode)), declared) {
				return
			}
		}
		p.Report(p.Here(name), "the output is "+analysis.Quote(v), "expected one of "+analysis.Quote(accepted),
			analysis.AtMostIf(!p.Dialects.Has(a2a.V1_0), analysis.Note))
	},
}

const maxModes = 100 // that are compared with each part

// acceptedModes returns the output modes that the client of the exchange accepts.
func acceptedModes(p *analysis.Pass) a2a.Value {
	configuration := p.Exchange.Call.Params.Get("configuration")
	modes := configuration.Get("acceptedOutputModes")
	if !modes.Exists() {
		modes = configuration.Get("accepted_output_modes")
	}
	return modes
}

// mediaRange returns a media type or a range of them without parameters.
func mediaRange(text []byte) []byte {
	text, _, _ = bytes.Cut(text, []byte(";"))
	return bytes.TrimSpace(text)
}

// acceptsType reports whether a range accepts a media type. A range without a slash is a short form: a type with every
// subtype, or one of the kinds of parts, under which anything may come.
func acceptsType(accepted, declared []byte) bool {
	typ, subtype, whole := bytes.Cut(accepted, []byte("/"))
	declaredType, declaredSubtype, _ := bytes.Cut(declared, []byte("/"))
	switch {
	case !whole && (bytes.EqualFold(typ, []byte("file")) || bytes.EqualFold(typ, []byte("data"))), string(typ) == "*":
		return true
	case !bytes.EqualFold(typ, declaredType):
		return false
	}
	return !whole || string(subtype) == "*" || bytes.EqualFold(subtype, declaredSubtype)
}
