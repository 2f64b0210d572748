/** Numbers of the view model that the browser compares with; a Python test holds them to `jaxscope/_view/model.py`. */
export const SCHEMA_VERSION = 4;
export const LINE_WITHOUT_OP = -1;
export const LINE_MADE_BY_COMPILER = -2;
