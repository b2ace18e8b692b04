// Package junit has what every report in JUnit XML consists of, and writes it. Each report has suites of its own, since
// what is counted differs.
package junit

import (
	"encoding/xml"
	"io"
)

// A Case is one test. At most one of Skipped, Failure and Error is set; none is a success.
type Case struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr,omitempty"` // in seconds, of a test
	Skipped *Message `xml:"skipped"`
	Failure *Message `xml:"failure"`
	Error   *Message `xml:"error"`
	Out     string   `xml:"system-out,omitempty"`
}

// A Message says how a case came out.
type Message struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Write writes a document: suites, whose fields have tags for package encoding/xml.
func Write(w io.Writer, suites any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
