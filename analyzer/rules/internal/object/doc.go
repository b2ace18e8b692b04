// Package object holds the rules about the shape of protocol objects: messages, parts, artifacts, tasks, updates, and
// their members.
//
// They read members with Entity.Member, so that null counts as absent, and a member in snake_case, which a separate
// rule reports, counts as present.
package object
