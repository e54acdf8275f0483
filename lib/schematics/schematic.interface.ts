// What is used of Angular's schematics, which belong to the command line: an application may not have them.

/** The files of a workspace. What is written is shown, and not kept, with `--dry-run`. */
export interface Tree {
  read(path: string): Buffer | null;
  exists(path: string): boolean;
  create(path: string, content: string): void;
  overwrite(path: string, content: string): void;
}

export interface SchematicContext {
  logger: { info(message: string): void; warn(message: string): void };
  /** Has a task done once all files are written. */
  addTask(task: { toConfiguration(): { name: string; options: object } }): unknown;
}

export type Rule = (tree: Tree, context: SchematicContext) => void;
