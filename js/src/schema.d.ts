// Generated from jaxscope/_view/model.py by `python -m tests.contract`. Do not edit.

export interface Place {
  file: string;
  line: number;
  column: number;
  function: string;
  text: string;
}

export interface Link {
  listing: string;
  line: number;
}

export interface Column {
  key: string;
  label: string;
  align: "left" | "right";
  code: boolean;
  help: string;
  bar?: boolean;
}

export interface Row {
  cells: string[];
  tone: "" | "error" | "warning" | "muted" | "good";
  marks: number[];
  link?: Link;
}

export interface Tick {
  at: number;
  label: string;
}

export interface Part {
  label: string;
  share: number;
}

export interface Stack {
  kind: "stack";
  summary: string;
  parts: Part[];
  marks: Tick[];
}

export interface Steps {
  kind: "steps";
  summary: string;
  data: string;
  count: number;
  peak: number;
  label: string;
  axis: string;
  top: number;
  ticks: Tick[];
}

export interface Roof {
  label: string;
  points: number[][];
}

export interface Scatter {
  kind: "scatter";
  summary: string;
  x_label: string;
  y_label: string;
  x_ticks: Tick[];
  y_ticks: Tick[];
  roofs: Roof[];
  points: number[][];
}

export interface Table {
  key: string;
  title: string;
  source: string;
  summary: string;
  tone: "" | "error" | "warning" | "muted" | "good";
  columns: Column[];
  rows: Row[];
  notes: string[];
  empty: string;
  group?: string;
  choice?: string;
  chart?: Stack | Steps | Scatter;
  request?: string;
}

export interface Figure {
  label: string;
  value: string;
  note: string;
  help: string;
  tone: "" | "error" | "warning" | "muted" | "good";
}

export interface Heat {
  help: string;
  lines: number[];
  shares: number[];
  texts: string[];
}

export interface Mark {
  listing: string;
  line: number;
  tone: "" | "error" | "warning" | "muted" | "good";
  text: string;
  note: string;
}

export interface CallBox {
  text: string;
  note: string;
}

export interface Operand {
  expression: string;
  type: string;
}

export interface FailureView {
  headline: string;
  found: string;
  message: string;
  advice: string;
  page: string;
  places: Place[];
  expression: string;
  operands: Operand[];
  mismatches: Table | null;
  traceback: string;
}

export interface Paragraph {
  heading: string;
  text: string;
}

export interface FindingView {
  rule: string;
  title: string;
  severity: string;
  tone: "" | "error" | "warning" | "muted" | "good";
  found: string;
  advice: string;
  places: Place[];
  links: Link[];
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
  figures: Figure[];
  tables: Table[];
  notes: string[];
  targets: string[];
  lines?: number;
  size_bytes?: number;
  call?: CallBox;
  findings?: FindingView[];
  rules?: Record<string, Paragraph[]>;
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
  heat: Record<string, Heat>;
  marks: Mark[];
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
  costs?: string[];
  line_cost?: number[];
}

export interface LiveColumns {
  strings: string[];
  listing: string;
  step_bytes: number[];
  step_name: number[];
  step_line: number[];
  size: number[];
  first: number[];
  last: number[];
  line: number[];
  cells: Record<string, number[]>;
}
