// Package junit writes reports as JUnit XML. A report fills suites with cases, and this package counts the cases.
package junit

import (
	"encoding/xml"
	"io"
	"time"
)

// A Suite is a group of cases, or a document of suites.
type Suite struct {
	XMLName   xml.Name
	Name      string  `xml:"name,attr"`
	Tests     int     `xml:"tests,attr"`
	Failures  int     `xml:"failures,attr"`
	Errors    *int    `xml:"errors,attr"` // nil for a suite that is written alone
	Skipped   int     `xml:"skipped,attr"`
	Timestamp string  `xml:"timestamp,attr,omitempty"`
	Cases     []Case  `xml:"testcase"`
	Suites    []Suite `xml:"testsuite"`
	Out       string  `xml:"system-out,omitempty"`
}

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

// A Message is the result of a case.
type Message struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// count counts the cases of a suite, and returns how many have an error.
func (s *Suite) count() (errors int) {
	s.Tests = len(s.Cases)
	for i := range s.Cases {
		switch c := &s.Cases[i]; {
		case c.Error != nil:
			errors++
		case c.Failure != nil:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	return errors
}

// Write writes suites as a document.
func Write(w io.Writer, name string, now time.Time, suites []Suite) error {
	all := Suite{XMLName: xml.Name{Local: "testsuites"}, Name: name, Errors: new(int), Suites: suites}
	for i := range suites {
		s := &suites[i]
		s.Errors, s.Timestamp = new(s.count()), now.UTC().Format("2006-01-02T15:04:05")
		all.Tests, all.Failures, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Skipped+s.Skipped
		*all.Errors += *s.Errors
	}
	return write(w, all)
}

// WriteAlone writes a suite, none of whose cases has an error, as a document.
func WriteAlone(w io.Writer, s Suite) error {
	s.XMLName.Local = "testsuite"
	s.count()
	return write(w, s)
}

func write(w io.Writer, root Suite) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(root); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
