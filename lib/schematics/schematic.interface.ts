// The part of Angular's schematics that is used. They belong to the command line, so an application may not have them.

/** The files of a workspace. With `--dry-run`, changes are shown but not written. */
export interface Tree {
  read(path: string): Buffer | null;
  exists(path: string): boolean;
  create(path: string, content: string): void;
  overwrite(path: string, content: string): void;
}

export interface SchematicContext {
  logger: { info(message: string): void; warn(message: string): void };
  /** Schedules a task to run once all files are written. */
  addTask(task: { toConfiguration(): { name: string; options: object } }): unknown;
}

export type Rule = (tree: Tree, context: SchematicContext) => void;
