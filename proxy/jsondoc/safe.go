package jsondoc

import (
	"io"

	"a2atap/proxy/safetext"
)

// Plain is safetext.Plain, for those who do not name that yet.
func Plain(text string) string { return safetext.Plain(text) }

// Escape is safetext.JSON, likewise.
func Escape(text []byte) []byte { return safetext.JSON(text) }

// NewEscaper is safetext.NewJSONWriter, likewise.
func NewEscaper(w io.Writer) io.Writer { return safetext.NewJSONWriter(w) }
