ALTER TABLE `journal` ADD `parent_id` text;--> statement-breakpoint
ALTER TABLE `journal` ADD `step` text;--> statement-breakpoint
ALTER TABLE `generations` ADD `parent_id` text;--> statement-breakpoint
ALTER TABLE `generations` ADD `step` text;--> statement-breakpoint
CREATE INDEX `generations_parent` ON `generations` (`parent_id`) WHERE "generations"."parent_id" is not null;