package intake

import (
	"regexp"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// unusable returns why a client cannot use the card that it asked for: it says that it speaks another generation of the
// protocol than all interfaces that the card offers. It is empty where either of them says nothing.
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

// speaks returns what a client says of the dialects that it speaks, and where it does: in A2A-Version, which versions
// since 1.0 have; else in the name that extensions had before 1.0; else in the name of its SDK.
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
