// Generated from jaxscope/_view/model.py by `python -m tests.contract`. Do not edit.

export interface Place {
  file: string;
  line: number;
  column: number;
  function: string;
  text: string;
}

export interface FailureView {
  headline: string;
  message: string;
  advice: string;
  places: Place[];
  traceback: string;
}

export interface Column {
  key: string;
  label: string;
  align: "left" | "right";
  code: boolean;
  help: string;
}

export interface Row {
  cells: string[];
  tone: "" | "error" | "warning" | "muted";
  marks: number[];
}

export interface Table {
  key: string;
  title: string;
  source: string;
  summary: string;
  tone: "" | "error" | "warning" | "muted";
  columns: Column[];
  rows: Row[];
  notes: string[];
  empty: string;
}

export interface Tab {
  key: string;
  title: string;
  kind: "listing" | "tables";
  status: "pending" | "running" | "done" | "failed" | "not reached" | "unavailable" | "on request";
  count: string;
  seconds: number | null;
  reason: string;
  failure: FailureView | null;
  tables: Table[];
  notes: string[];
  targets: string[];
  lines?: number;
  size_bytes?: number;
}

export interface Target {
  name: string;
  label: string;
}

export interface Choice {
  name: string;
  label: string;
  reason: string;
}

export interface View {
  schema: number;
  title: string;
  function: string;
  targets: Target[];
  choices: Choice[];
  versions: string;
  notes: string[];
  tabs: Tab[];
}

export interface Rule {
  kind: string;
  match: string;
}

export interface HiddenRule {
  kind: string;
  match: string;
  shown: boolean;
}

export interface Grammar {
  parts: Record<string, string>;
  step_over: string;
  names: string;
  rules: Rule[];
  hidden: HiddenRule[];
}

export interface ListingIndex {
  key: string;
  dialect: string;
  grammar: Grammar | null;
  numbers: number[];
  line_stack: number[];
  line_path: number[];
  line_place: number[];
  spans: number[][];
  folds: (number | string | boolean)[][];
  start: number;
  files: string[];
  functions: string[];
  frames: number[][];
  stacks: number[][];
  paths: string[];
  tokens: (string | number)[][][];
  short_names: Record<string, string>;
  coverage: number[];
  op_line: number[];
  op_operands: number[];
  operand_source: number[];
  calls: number[];
}
