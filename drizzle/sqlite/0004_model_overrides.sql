CREATE TABLE `model_overrides` (
	`id` text PRIMARY KEY NOT NULL,
	`model` text NOT NULL,
	`provider` text NOT NULL,
	`entry` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `model_overrides_place` ON `model_overrides` (`model`,`provider`);