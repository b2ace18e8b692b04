// Package workflow holds the rules about requests on which several agents work: what an agent that asks others makes of
// their answers. All of them are notes, and say what was seen: the protocol leaves it to agents how they divide work.
package workflow
