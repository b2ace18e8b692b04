package assembly

import (
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/safetext"
)

// These constants bound the assembled contents.
const (
	MaxEvents = 20_000
	MaxBytes  = 2 << 20 // of text, and of what keeps it

	maxName    = 256 // bytes of a name that are kept
	maxQuote   = 60  // bytes of a text in what an event brings
	blockBytes = 64  // that a block counts for
	runBytes   = 16
)

// A Run is a part, or a piece of one, as delivered by one event.
type Run struct {
	Event int          // index; -1 in an answer that is not a stream
	Kind  a2a.PartKind //
	Text  string       // of a text; of a data part its JSON; of a file what it is; else the part as it was sent
}

// runsOf returns the parts of a message or an artifact as runs.
func runsOf(event int, parts a2a.Parts) []Run {
	var runs []Run
	for _, p := range parts.All() {
		r := Run{Event: event, Kind: p.PartKind()}
		switch r.Kind {
		case a2a.TextPart:
			r.Text = p.Text()
		case a2a.DataPart:
			r.Text = string(p.Data().Raw())
		case a2a.RawPart:
			r.Text = described(p, fmt.Sprintf("%d bytes in base64", len(p.Bytes().Text())))
		case a2a.URLPart:
			r.Text = described(p, p.URI().Text())
		default:
			r.Text = string(p.Raw())
		}
		runs = append(runs, r)
	}
	return runs
}

// described describes a file: its name, its media type, and the place of its content.
func described(p a2a.Part, content string) string {
	var words []string
	for _, w := range []string{cut(p.Filename(), maxName), cut(p.MediaType(), maxName), content} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// quoted returns the beginning of the first text among parts, in quotes after a blank.
func quoted(parts a2a.Parts) string {
	for _, p := range parts.All() {
		if p.PartKind() == a2a.TextPart {
			return fmt.Sprintf(" %q", cut(p.Text(), maxQuote))
		}
	}
	return ""
}

// sameContent reports whether two lists of runs have the same content, however their text is cut into parts.
func sameContent(a, b []Run) bool {
	text, others := joined(a)
	text2, others2 := joined(b)
	return text == text2 && others == others2
}

// joined returns the text of runs, and their other contents.
func joined(runs []Run) (words, others string) {
	var text, rest strings.Builder
	for _, r := range runs {
		if r.Kind == a2a.TextPart {
			text.WriteString(r.Text)
		} else {
			rest.WriteString(r.Text)
			rest.WriteByte(0)
		}
	}
	return text.String(), rest.String()
}

// cut returns a copy of the beginning of a text, at most n bytes.
func cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.Clone(safetext.Cut(text, bytes))
}
