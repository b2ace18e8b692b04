package intake

import (
	"regexp"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// unusable returns why a client cannot use the card that it requested: the client identifies itself as a different
// generation of the protocol than all interfaces of the card. It returns "" if either side does not identify its
// generation.
func unusable(x *analysis.Exchange, offered a2a.Dialects) string {
	speaks, by := speaks(x.Request.Fields)
	if !speaks.Apart(offered) {
		return ""
	}
	return "it uses " + speaks.String() + " according to its " + by + ", the card offers only " + offered.String()
}

// offered returns the dialects of all interfaces of a card; empty if it has one in an unknown version.
func offered(card *a2a.Card) (all a2a.Dialects) {
	for i := range card.Interfaces {
		spoken := card.Interfaces[i].Dialects
		if spoken.Empty() {
			return 0
		}
		all |= spoken
	}
	return all
}

// An A2A SDK names itself with its version, which begins with the protocol's: "a2a-sdk/0.3.26".
var sdk = regexp.MustCompile(`(?i)(?:^|[ @(])(a2a[-_.](?:[\w.-]*/)?[\w.-]*/v?((?:0\.[123]|1\.0))(?:\.[\w.+-]*)?)(?:$|[ ;)])`)

// speaks returns the dialects that a client claims to speak, and where it claims them: in A2A-Version, which exists
// since 1.0; or else by the name that the extensions header had before 1.0; or else in the name of its SDK.
func speaks(fields capture.Fields) (in a2a.Dialects, by string) {
	if version := fields.Get("A2A-Version"); version != "" {
		return a2a.VersionDialects(version), "A2A-Version " + analysis.Clip(version)
	}
	if fields.Has("X-A2A-Extensions") && !fields.Has("A2A-Extensions") {
		return a2a.Of(a2a.V0_2, a2a.V0_3), "X-A2A-Extensions"
	}
	if found := sdk.FindStringSubmatch(fields.Get("User-Agent")); found != nil {
		return a2a.VersionDialects(found[2]), "User-Agent " + analysis.Clip(found[1])
	}
	return 0, ""
}
