package relay

// A malformed error says which rule of HTTP a message breaks, so that its end cannot be known for certain.
type malformed struct {
	detail string
	status int // our answer, if the message is a request and no answer has begun
}

func (m *malformed) Error() string { return m.detail }

func bad(detail string) *malformed { return &malformed{detail, 400} }

// What is refused, and by which section. All but the last group are 400.
var (
	errNotHTTP     = bad("does not begin with an HTTP/1 request line")
	errPreface     = bad("HTTP/2 connection preface; this listener speaks HTTP/1.1")
	errRequestLine = bad("malformed request line (RFC 9112 section 3)")
	errStatusLine  = bad("malformed status line (RFC 9112 section 4)")

	errNoHost   = bad("HTTP/1.1 request without Host (RFC 9112 section 3.2)")
	errTwoHosts = bad("more than one Host field (RFC 9112 section 3.2)")
	errBadHost  = bad("value of Host is not a host (RFC 9112 section 3.2)")

	errFold      = bad("folded line or blank at the beginning of a field line (RFC 9112 section 5.2)")
	errNoColon   = bad("field line without a colon (RFC 9112 section 5)")
	errNoName    = bad("field line without a name (RFC 9112 section 5)")
	errNameBlank = bad("white space or control character in or after a field name (RFC 9112 section 5.1)")
	errBareCR    = bad("CR without LF (RFC 9112 section 2.2)")
	errNUL       = bad("NUL in a field (RFC 9110 section 5.5)")

	errBadLength       = bad("Content-Length is not a number (RFC 9112 section 6.3)")
	errTwoLengths      = bad("different Content-Length values (RFC 9112 section 6.3)")
	errLengthAndCoding = bad("both Content-Length and Transfer-Encoding (RFC 9112 section 6.3)")
	errBadCoding       = bad("malformed Transfer-Encoding (RFC 9112 section 6.1)")
	errLastCoding      = bad("chunked is not the last transfer coding of a request (RFC 9112 section 6.3)")
	errOldCoding       = bad("Transfer-Encoding in HTTP/1.0 (RFC 9112 section 6.1)")

	errChunkSize   = bad("chunk size is not a hexadecimal number (RFC 9112 section 7.1)")
	errChunkHuge   = bad("chunk size is too large for any body (RFC 9112 section 7.1)")
	errChunkLine   = bad("line of a chunk size is longer than 16 KiB (RFC 9112 section 7.1.1)")
	errChunkExt    = bad("control character in a chunk extension (RFC 9112 section 7.1.1)")
	errChunkEnd    = bad("CRLF missing in chunked framing (RFC 9112 section 7.1)")
	errTrailerHuge = bad("trailer section is too long (RFC 9112 section 7.1.2)")

	errNotAbsolute = bad("request target is not an absolute http or https URL, as a forward proxy needs it " +
		"(RFC 9112 section 3.2.2)")
	errScheme = bad("the scheme of the request target is neither http nor https, and nothing else says where the request " +
		"goes: Host is ignored next to an absolute target (RFC 9112 section 3.2.2); WebSockets are opened through CONNECT")
	errUserInformation = bad("user information in a request target (RFC 9110 section 4.2.4)")
	errBadTarget       = bad("malformed authority or fragment in a request target (RFC 9112 section 3.2)")
	errNoPort          = bad("CONNECT without a port (RFC 9110 section 9.3.6)")

	errConnect     = &malformed{"CONNECT to a listener that is not a forward proxy (RFC 9110 section 9.3.6)", 501}
	errLateConnect = &malformed{"CONNECT on a connection that has carried other requests; open a new one for it", 501}
	errVersion     = &malformed{"version of HTTP other than 1.x (RFC 9110 section 15.6.6)", 505}
	errHeadHuge    = &malformed{"head is longer than this proxy accepts (RFC 6585 section 5)", 431}
	errHeadTimeout = &malformed{"head was not complete in time (RFC 9110 section 15.5.9)", 408}

	errProxyCredentials = &malformed{"proxy credentials are missing or wrong (RFC 9110 section 15.5.8)", 407}
)
