CREATE TABLE "model_overrides" (
	"id" text PRIMARY KEY NOT NULL,
	"model" text NOT NULL,
	"provider" text NOT NULL,
	"entry" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE UNIQUE INDEX "model_overrides_place" ON "model_overrides" USING btree ("model","provider");