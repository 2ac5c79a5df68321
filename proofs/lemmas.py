#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Proves the axioms in ACSL files one by one, except those of Pow2 and Bits.

The variables of an axiom become constants. The prover gets the axiom's premises
and the negation of its conclusion, and must find that they contradict each other.
A comment behind the axiom, "// by name(args) ...", names other axioms and their
arguments. The prover gets these instances, too, and no other axioms. An axiom that is
named must stand further up, or in an earlier FILE. Division rounds towards 0, as in C,
also for negative numbers.

Usage: lemmas.py "FILE..." TIMEOUT PROVER...		PROVER: z3 or cvc5
"""
import re
import subprocess
import sys
import time

TOKEN = re.compile(r"\s*(<==>|==>|&&|\|\||<=|>=|==|!=|[-+*/%<>!(),]|\\?\w+)")
LEVELS = [["<==>"], ["==>"], ["||"], ["&&"], ["<=", ">=", "==", "!=", "<", ">"],
          ["+", "-"], ["*", "/", "%"]]
SMT = {"<==>": "=", "==>": "=>", "||": "or", "&&": "and", "==": "=", "!=": "distinct",
       "/": "tdiv", "%": "tmod"}
PRELUDE = """(set-logic ALL)
(define-fun tdiv ((x Int) (d Int)) Int
  (ite (>= x 0) (div x d) (- (div (- x) d))))
(define-fun tmod ((x Int) (d Int)) Int (- x (* d (tdiv x d))))
(declare-fun pow2 (Int) Int)
"""


class Parser:
    """Turns an ACSL term or predicate into SMT-LIB."""

    def __init__(self, text, values):
        self.tokens = TOKEN.findall(text)
        if "".join(self.tokens) != re.sub(r"\s", "", text):
            sys.exit(f"lemmas: can't read {text}")
        self.values = values

    def next(self):
        return self.tokens.pop(0)

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def parse(self, level=0):
        if level == len(LEVELS):
            return self.atom()
        left = self.parse(level + 1)
        if level == 1:                          # ==> groups to the right
            if self.peek() == "==>":
                self.next()
                return f"(=> {left} {self.parse(level)})"
            return left
        parts = []                              # a < b <= c is a < b && b <= c
        while self.peek() in LEVELS[level]:
            op = self.next()
            right = self.parse(level + 1)
            if level == 4:
                parts.append(f"({SMT.get(op, op)} {left} {right})")
                left = right
            else:
                left = f"({SMT.get(op, op)} {left} {right})"
        return "(and " + " ".join(parts) + ")" if parts else left

    def atom(self):
        token = self.next()
        if token == "(":
            inner = self.parse()
            if self.next() != ")":
                sys.exit("lemmas: missing )")
            return inner
        if token == "-":
            return f"(- {self.atom()})"
        if token == "!":
            return f"(not {self.atom()})"
        if token[0].isdigit():
            return str(int(token, 0))
        if self.peek() == "(":
            self.next()
            args = []
            while True:
                args.append(self.parse())
                if self.next() == ")":
                    return f"({token} {' '.join(args)})"
        return {"\\true": "true", "\\false": "false"}.get(token) or self.values[token]


def read(text):
    """The axioms, in order: name, variables, body, instances that the proof may use."""
    for match in re.finditer(r"axiom (\w+):\s*(?:\\forall integer ([^;]*);)?([^;]*);"
                             r"((?:\s*//[^\n]*)*)", text):
        name, names, body, comment = match.groups()
        names = [n.strip() for n in names.split(",")] if names else []
        yield name, names, body, re.findall(r"(\w+)(\((?:[^()]|\([^()]*\))*\))",
                                            comment.replace("//", ""))


def split(args):
    """The arguments, split at the commas that are outside of brackets."""
    parts, depth = [""], 0
    for char in args[1:-1]:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [p for p in parts if p.strip()]


def prove(paths, timeout, provers):
    text = "".join(open(path).read() for path in paths)
    known, failed = {}, 0
    for section in re.findall(r"axiomatic (\w+) \{(.*?)\n  \}", text, re.S):
        if section[0] == "Bits":
            continue
        for name, names, body, uses in read(section[1]):
            if section[0] != "Pow2":
                values = {n: n for n in names}
                problem = PRELUDE + "".join(f"(declare-const {n} Int)\n" for n in names)
                for other, args in uses:
                    their_names, their_body = known[other]
                    terms = [Parser(a, values).parse() for a in split(args)]
                    if len(terms) != len(their_names):
                        sys.exit(f"lemmas: {name}: wrong arguments of {other}")
                    instance = Parser(their_body, dict(zip(their_names, terms))).parse()
                    problem += f"(assert {instance})\n"
                problem += f"(assert (not {Parser(body, values).parse()}))\n(check-sat)\n"
                failed += not by_one_of(name, problem, timeout, provers)
            known[name] = names, body
    return failed


def by_one_of(name, problem, timeout, provers):
    tries = [(p, t) for t in (1, int(timeout)) for p in provers]
    for prover, seconds in tries:
        start = time.monotonic()
        command = {"z3": ["z3", f"-T:{seconds}", "-in"],
                   "cvc5": ["cvc5", f"--tlimit={seconds}000", "--lang=smt2", "-"]}[prover]
        answer = subprocess.run(command, input=problem, text=True,
                                capture_output=True, check=False).stdout.strip()
        if answer == "unsat":
            print(f"lemma_{name} {prover} {time.monotonic() - start:.2f}s")
            return True
    print(f"lemma_{name} - unproved ({answer})")
    return False


if __name__ == "__main__":
    sys.exit(1 if prove(sys.argv[1].split(), sys.argv[2], sys.argv[3:]) else 0)
