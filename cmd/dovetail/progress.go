package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progressDelay is how long a step may take before it is worth a line.
const progressDelay = 2 * time.Second

// progress tells somebody who waits at a terminal what is going on, and nobody
// else anything.
type progress struct {
	w     io.Writer
	quiet bool
}

func newProgress(w io.Writer) *progress {
	return &progress{w, !isTerminal(w)}
}

// step announces what is being done until the function that it returns is
// called. It writes nothing unless that takes longer than progressDelay.
func (p *progress) step(what string) (done func()) {
	if p.quiet {
		return func() {}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { p.tick(what, time.Now(), stop) })
	return sync.OnceFunc(func() {
		close(stop)
		wg.Wait()
	})
}

// tick rewrites one line every quarter of a second, and clears it at the end.
func (p *progress) tick(what string, since time.Time, stop <-chan struct{}) {
	select {
	case <-stop:
		return
	case <-time.After(progressDelay):
	}
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for {
		fmt.Fprintf(p.w, "\r\x1b[K%s … %.0f s", what, time.Since(since).Seconds())
		select {
		case <-stop:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		case <-ticker.C:
		}
	}
}

// isTerminal tells whether a stream is a person's terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth is the width of a terminal in columns, 0 for anything else.
func terminalWidth(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
