package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// progress draws a progress bar on a terminal. It is safe for concurrent use.
type progress struct {
	out io.Writer // nil: there is no terminal

	mu    sync.Mutex
	drawn string
}

// newProgress returns a progress bar on stderr. It draws nothing if stderr is not a terminal.
func (s *session) newProgress() *progress {
	p := &progress{}
	if s.errTerminal {
		p.out = s.err
	}
	return p
}

const (
	barWidth = 30
	// clearLine moves the cursor of a terminal to the start of the line, and clears it.
	clearLine = "\r\x1b[K"
)

// show draws what is done of a total. Without a total it draws only the text.
func (p *progress) show(what string, done, total int) {
	if p.out == nil {
		return
	}
	line := what
	if total > 0 {
		filled := barWidth * min(done, total) / total
		bar := strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled)
		line = fmt.Sprintf("[%s] %d/%d %s", bar, done, total, what)
	}
	p.draw(line)
}

// clear removes the bar.
func (p *progress) clear() {
	if p.out != nil {
		p.draw("")
	}
}

func (p *progress) draw(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if line != p.drawn {
		fmt.Fprint(p.out, clearLine+line)
		p.drawn = line
	}
}
