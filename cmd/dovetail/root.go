package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// What the process exits with.
const (
	exitOK       = 0
	exitFailure  = 1 // ours, or the machine's: a bug, a disk, a permission
	exitBadInput = 2 // the caller's: flags or manifests
	exitLeftOut  = 3 // the plan leaves pods out, and --fail-on-unschedulable was given
)

const issues = "https://github.com/dovetail-sh/dovetail/issues"

// exitError is an error that decides what the process exits with. Errors
// without one are failures. An empty message prints nothing: what was wrong has
// been said already.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return e.message }

// badInput is an error of the caller's. The message says what to do about it.
func badInput(format string, args ...any) error {
	return &exitError{exitBadInput, fmt.Sprintf(format, args...)}
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run carries out one command line and returns the exit code. It is main
// without the process.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "dovetail: a bug in dovetail, not in your input: %s (%s)\n", firstLine(r), panicPlace())
			fmt.Fprintf(stderr, "Please report it with the command, the input and the output of `dovetail version` at %s\n", issues)
			code = exitFailure
		}
	}()
	root := newRoot(streams{stdin, stdout, stderr})
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{exitFailure, err.Error()}
	}
	if exit.message != "" {
		fmt.Fprintf(stderr, "dovetail: %s\n", exit.message)
	}
	return exit.code
}

// newRoot makes the command and its subcommands.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "dovetail",
		Short: "Plan the nodes of an Amazon EKS cluster",
		Long: `Dovetail plans the nodes of an Amazon EKS cluster from the manifests that you have:
karpenter.sh/v1 NodePools, karpenter.k8s.aws/v1 EC2NodeClasses and whatever
"kubectl get -o yaml" prints. It runs outside of the cluster, reads files only,
and changes nothing.`,
		Example: `  # What would the pods of this cluster that wait get, and at what price?
  kubectl get pods,nodes,daemonsets,nodepools,ec2nodeclasses -A -o yaml | dovetail plan -f -

  # Are these manifests right?
  dovetail validate -f nodepools/`,
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		Args:                       unknownCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return badInput("%v (see %q)", err, cmd.CommandPath()+" --help")
	})
	root.AddCommand(newPlan(s), newValidate(s), newVersion(s))
	return root
}

// unknownCommand refuses an argument of the root, which can only be a command
// that there is not.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("see %q", cmd.CommandPath()+" --help")
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		hint = "did you mean " + strings.Join(like, " or ") + "?"
	}
	return badInput("there is no command %q; %s", args[0], hint)
}

// noArguments refuses arguments of a command that takes files by -f: whoever
// gives one most likely forgot the flag.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return badInput("%s takes no arguments: for a file or a folder write -f %s", cmd.CommandPath(), args[0])
}

// version is set by the linker; a build without the Makefile says what Go knows.
var version = ""

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  dovetail version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.out, "dovetail %s %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// firstLine keeps an error that was panicked with to one line.
func firstLine(v any) string {
	line, _, _ := strings.Cut(fmt.Sprint(v), "\n")
	return line
}

// panicPlace is the function, file and line that panicked: enough to find it,
// and not a stack trace. It is called while the panic is being recovered.
func panicPlace() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			file := f.File[strings.LastIndexByte(f.File, '/')+1:]
			return fmt.Sprintf("%s, %s:%d", f.Function, file, f.Line)
		}
		if !more {
			return "place unknown"
		}
	}
}
