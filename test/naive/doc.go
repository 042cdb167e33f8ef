// Package naive is a second opinion on plans. It reads a snapshot, the
// catalogue and a plan's report, puts every pod where the report puts it, and
// asks for each one what kube-scheduler's filters would ask: would this node
// admit this pod, with all the others where they are?
//
// It is deliberately dumb. It shares no code with the packer, has no classes,
// no bit sets and no counters, and looks at every pod and every node again for
// each question. It is for tests: slow, short and easy to compare with the
// documented behaviour of the scheduler.
//
// Its one entry point is Check.
package naive
