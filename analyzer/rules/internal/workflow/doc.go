// Package workflow holds the rules about requests on which several agents work: how an agent handles the answers of the
// agents that it calls. All of them are notes, and report only observations: the protocol lets agents divide work as
// they like.
package workflow
