// Package plan holds what a decision is made of: the Proposal with what it
// relied on, what it would write and why, and Check, which refuses a proposal
// that breaks an invariant. It decides nothing and does no I/O.
package plan
